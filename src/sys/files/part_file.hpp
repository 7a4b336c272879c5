// SPDX-License-Identifier: BSD-2-Clause
// Files that are read or written as a whole. Replacement of a file is atomic:
//     NewFile file(path);        // creates .NAME.part.RANDOM in the same folder
//     file.write(text); ...
//     file.commit();             // syncs and renames it to path; without commit it is removed
// At any time the path has either the old content or all of the new content. The path must be free,
// or a writable regular file. Folders, devices, pipes, and symbolic links (whose target would be
// replaced) are errors.
#pragma once

#include "sys/files/part_owner.hpp"

#include <sys/types.h>

#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

namespace tenon {

// A temporary file next to its final path, accessed by its descriptor.
class PartFile {
public:
  // Whether other processes can identify the writer (part_owner.hpp). Required for files that are
  // removed by others if they are left over.
  enum class Owner { Nameless, Named };
  // Creates an empty file .NAME.part.RANDOM with the permissions of the file that it will replace,
  // or those of the umask; existing files are never opened. Throws TENON_ERR_FILE with the reason,
  // as do all functions of the class.
  explicit PartFile(std::string path, Owner owner = Owner::Nameless);
  // Removes the file unless it was committed.
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  const std::string& name() const noexcept { return name_; }
  // The descriptor is open for writing until commit().
  int descriptor() const noexcept { return file_; }
  // Flushes the data that this process has written to the disk.
  void sync();
  // Renames the file to its final path, and flushes the rename to the disk.
  void commit();
  [[noreturn]] void fail(const std::string& reason) const;

  // Common prefix of the names of all temporary files for this path, without the folder.
  static std::string prefix(const std::string& path);

private:
  // The permissions of the file at the path, if there is one.
  std::optional<mode_t> checkPath() const;
  void open(std::optional<mode_t> replaced, Owner owner);
  void close() noexcept;

  std::string path_, name_;
  std::optional<PartOwner> owner_;
  int file_ = -1;
  bool isCommitted_ = false;
};

// The folder of a path, or "." if the path has none.
std::string folderOf(const std::string& path);
// Flushes to the disk the data that this process has written to a file, or the entries of a folder.
// Throws TENON_ERR_FILE. It is not an error if the file system does not support this.
void syncToDisk(const std::string& path);

// A PartFile that is written as text. On failure the old file remains.
class NewFile {
public:
  // Throws TENON_ERR_FILE with the reason, as do all functions of the class.
  explicit NewFile(std::string path);
  // Removes the temporary file unless it was committed.
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::string_view text);
  void commit();

private:
  PartFile part_;
  std::FILE* file_;
};

// Maximum size of a text file that is read as a whole; larger files are assumed not to be text.
inline constexpr std::size_t kMaxFileText = std::size_t(16) << 20;
// Throws TENON_ERR_FILE with the reason if the file cannot be read, is not a regular file, or is
// too long; `kind` ("options file") names it in messages.
std::string readWholeFile(const std::string& path, const std::string& kind);

} // namespace tenon
