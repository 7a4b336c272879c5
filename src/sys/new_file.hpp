// SPDX-License-Identifier: BSD-2-Clause
// A file that is written under a name of its own, in the folder of its place, and renamed into it
// once it is whole: a failure leaves what was there before, and nothing that others made is opened.
// Its place is free or holds a regular file that may be written. Anything else there (a folder, a
// device, a pipe, a symbolic link, whose target would be meant) is an error that names it.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace tenon {

class NewFile {
public:
  // Opens a file of a random name for writing, with the permissions that umask gives. Throws
  // TENON_ERR_FILE, saying why, as all calls here do.
  explicit NewFile(std::string path);
  // Removes what was written, unless it was committed.
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::string_view text);
  // What was written is on the disk before it takes its place.
  void commit();

private:
  void checkPlace() const;
  void open();
  [[noreturn]] void fail(const std::string& reason) const;

  std::string path_, part_;
  std::FILE* file_ = nullptr;
};

} // namespace tenon
