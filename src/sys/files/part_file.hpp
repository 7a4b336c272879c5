// SPDX-License-Identifier: BSD-2-Clause
// A file beside its place, in the same folder, under a name that nobody else has, which takes the
// place once it is whole: at every moment the place holds what was there before, or all of the new.
// The place is free or holds a regular file that may be written. Anything else there (a folder, a
// device, a pipe, a symbolic link, whose target would be meant) is an error that names it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

namespace tenon {

// A small file as one text.

// What is longer is no file of text.
inline constexpr std::size_t kMostFileText = std::size_t(16) << 20;
// Throws TENON_ERR_FILE, saying why, if it cannot be read, is no regular file or is longer than that;
// `kind` ("options file") is what messages call it.
std::string readWholeFile(const std::string& path, const std::string& kind);

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

// A file of text that is written beside its place and renamed into it once it is whole
// (part_file.hpp): a failure leaves what was there before.

class NewFile {
public:
  // Throws TENON_ERR_FILE, saying why, as all calls here do.
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

} // namespace tenon
