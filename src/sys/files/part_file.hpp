// SPDX-License-Identifier: BSD-2-Clause
// Files that are read or written as a whole.
//
// A written file is made beside its place, in the same folder, under a name that nobody else has,
// and takes the place once it is whole: at every moment the place holds what was there before, or
// all of the new content. The place is free or holds a regular file that may be written. Anything
// else there is an error that names it: a folder, a device, a pipe, or a symbolic link, whose
// target would be meant.
#pragma once

#include "sys/files/part_owner.hpp"

#include <sys/types.h>

#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

namespace tenon {

// A file beside its place, by its descriptor.
class PartFile {
public:
  // Whether others can ask who writes the file (part_owner.hpp), which files need that others
  // remove if they are left.
  enum class Owner { Nameless, Named };
  // Creates an empty file .NAME.part.RANDOM with the permissions of the file that it replaces, or
  // else those that umask gives; a file that somebody else made is never opened. Throws
  // TENON_ERR_FILE with the reason, as all calls here do.
  explicit PartFile(std::string path, Owner owner = Owner::Nameless);
  // Removes the file unless it was committed.
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  const std::string& name() const noexcept { return name_; }
  // The descriptor is open for writing until the file is committed.
  int descriptor() const noexcept { return file_; }
  // What this process has written is on the disk when this returns.
  void sync();
  // Gives the file its name, which is on the disk when this returns.
  void commit();
  [[noreturn]] void fail(const std::string& reason) const;

  // The beginning of the names of all files that were to take this place, their folder left out.
  static std::string prefix(const std::string& path);

private:
  // The permissions of the file that is at the place, if one is.
  std::optional<mode_t> checkPlace() const;
  void open(std::optional<mode_t> replaced, Owner owner);
  void close() noexcept;

  std::string path_, name_;
  std::optional<PartOwner> owner_;
  int file_ = -1;
  bool isCommitted_ = false;
};

// The folder of a path; "." where it names none.
std::string folderOf(const std::string& path);
// Brings to the disk what this process has written to the file, or the names that a folder holds.
// Throws TENON_ERR_FILE; that a file system cannot do this is not an error.
void syncToDisk(const std::string& path);

// A PartFile that is written as text. A failure leaves what was there before.
class NewFile {
public:
  // Throws TENON_ERR_FILE with the reason, as all calls here do.
  explicit NewFile(std::string path);
  // Removes what was written, unless it was committed.
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::string_view text);
  void commit();

private:
  PartFile part_;
  std::FILE* file_;
};

// The longest file that is read as one text; what is longer is not a file of text.
inline constexpr std::size_t kMaxFileText = std::size_t(16) << 20;
// Throws TENON_ERR_FILE with the reason if the file cannot be read, is not a regular file, or is
// longer than that; `kind` ("options file") is what messages call it.
std::string readWholeFile(const std::string& path, const std::string& kind);

} // namespace tenon
