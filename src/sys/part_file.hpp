// SPDX-License-Identifier: BSD-2-Clause
// A file beside its place, in the same folder, under a name that nobody else has, which takes the
// place once it is whole: at every moment the place holds what was there before, or all of the new.
// The place is free or holds a regular file that may be written. Anything else there (a folder, a
// device, a pipe, a symbolic link, whose target would be meant) is an error that names it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace tenon {

class PartFile {
public:
  // Creates an empty file .NAME.part.RANDOM with the permissions of the file that it replaces, or else
  // those that umask gives; what others made is never opened. Throws TENON_ERR_FILE, saying why, as all
  // calls here do.
  explicit PartFile(std::string path);
  // Removes the file unless it was committed.
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  const std::string& name() const noexcept { return name_; }
  // Open for writing until it is committed.
  int descriptor() const noexcept { return file_; }
  // What this process has written is on the disk when this returns.
  void sync();
  // Gives the file its name, which is on the disk when this returns.
  void commit();
  [[noreturn]] void fail(const std::string& reason) const;

  // How the names of the files begin that were to take this place, their folder left out.
  static std::string prefix(const std::string& path);

private:
  // The permissions of the file that is there, if one is.
  std::optional<mode_t> checkPlace() const;
  void open(std::optional<mode_t> replaced);
  void close() noexcept;

  std::string path_, name_;
  int file_ = -1;
  bool isCommitted_ = false;
};

// The folder of a path, "." where it names none.
std::string folderOf(const std::string& path);
// What was written to the file by this process, or is known of the names in the folder, is on the disk
// when this returns. Throws TENON_ERR_FILE; file systems that cannot do this say so, which is no error.
void syncToDisk(const std::string& path);

} // namespace tenon
