// SPDX-License-Identifier: BSD-2-Clause
#include "sys/new_file.hpp"

#include "sys/error.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>

namespace tenon {

namespace {

constexpr int kTries = 16;
constexpr mode_t kMode = 0666; // less what umask takes

// Beside `path`, and short whatever the length of its name.
std::string freshName(const std::string& path) {
  std::random_device random;
  return fmt::format("{}.tenon-{:08x}{:08x}", path.substr(0, path.rfind('/') + 1), random(),
                     random());
}

const char* kindOf(mode_t mode) {
  switch (mode & S_IFMT) {
  case S_IFDIR:
    return "a folder";
  case S_IFLNK:
    return "a symbolic link";
  case S_IFCHR:
  case S_IFBLK:
    return "a device";
  case S_IFIFO:
    return "a pipe";
  default:
    return "a socket";
  }
}

} // namespace

NewFile::NewFile(std::string path) : path_(std::move(path)) {
  checkPlace();
  open();
}

NewFile::~NewFile() {
  if (!file_)
    return;
  std::fclose(file_);
  unlink(part_.c_str());
}

void NewFile::checkPlace() const {
  struct stat there {};
  if (lstat(path_.c_str(), &there) != 0) {
    if (errno == ENOENT && !path_.empty())
      return;
    fail(std::strerror(errno));
  }
  if (!S_ISREG(there.st_mode))
    fail(fmt::format("it is {}; expected a regular file or a name that is free",
                     kindOf(there.st_mode)));
  if (access(path_.c_str(), W_OK) != 0)
    fail(std::strerror(errno));
}

void NewFile::open() {
  int file = -1;
  for (int i = 0; i < kTries && file < 0; ++i) {
    part_ = freshName(path_);
    file = ::open(part_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kMode);
    if (file < 0 && errno != EEXIST)
      break;
  }
  if (file < 0)
    fail(std::strerror(errno));
  file_ = fdopen(file, "wb");
  if (file_)
    return;
  const int reason = errno;
  close(file);
  unlink(part_.c_str());
  fail(std::strerror(reason));
}

void NewFile::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size())
    fail(std::strerror(errno));
}

void NewFile::commit() {
  // Some file systems have no fsync, and say so by EINVAL.
  if (std::fflush(file_) != 0 || (fsync(fileno(file_)) != 0 && errno != EINVAL))
    fail(std::strerror(errno));
  checkPlace();
  if (std::rename(part_.c_str(), path_.c_str()) != 0)
    fail(std::strerror(errno));
  std::fclose(file_);
  file_ = nullptr;
}

void NewFile::fail(const std::string& reason) const {
  throw Error(TENON_ERR_FILE, fmt::format("cannot write file '{}': {}", path_, reason));
}

} // namespace tenon
