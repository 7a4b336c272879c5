// SPDX-License-Identifier: BSD-2-Clause
// Determines whether the writer of a part file (a temporary file that is being written) still
// exists: the writer holds a flock() lock on a separate small file. Such a lock belongs to an open
// file and therefore also separates two writers in one process. The part file itself is not locked,
// since HDF5 and MPI apply their own locks to it.
#include "sys/files/part_owner.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <string_view>

namespace tenon {

namespace {

constexpr std::string_view kOwnerEnding = ".owner";
constexpr mode_t kOwnerMode = 0644;
constexpr std::time_t kDay = 24 * 3600; // in seconds
constexpr int kMaxHost = 64;            // bytes of a host name, the system's limit

std::string hostName() {
  std::array<char, kMaxHost + 1> name{};
  if (gethostname(name.data(), kMaxHost) != 0)
    return "?";
  return name.data();
}

struct Writer {
  long process = 0;
  std::string host = "?";

  std::string text() const {
    return process > 0 ? fmt::format("process {} on host {}", process, host) : "another program";
  }
};

Writer readWriter(int file) {
  std::array<char, kMaxHost + 32> text{}, host{};
  Writer writer;
  if (pread(file, text.data(), text.size() - 1, 0) <= 0 ||
      std::sscanf(text.data(), "%ld %64s", &writer.process, host.data()) != 2)
    return {};
  writer.host = host.data();
  return writer;
}

// A guess for file systems without locks. A process of this host can be looked up (signal 0 sends
// nothing, and fails with ESRCH if the process does not exist); of other hosts only the age of the
// file is known, and files are written in much less than a day.
bool seemsGone(const Writer& writer, const struct stat& status) {
  if (writer.process > 0 && writer.host == hostName())
    return kill(static_cast<pid_t>(writer.process), 0) != 0 && errno == ESRCH;
  return std::time(nullptr) - status.st_mtime > kDay;
}

} // namespace

PartOwner::PartOwner(const std::string& part) : path_(part + std::string(kOwnerEnding)) {
  const int file =
      ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kOwnerMode);
  if (file < 0)
    return;
  // A program that cleans the folder can take the file for a leftover, and remove it.
  struct stat status {};
  const bool isTaken = flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (isTaken || fstat(file, &status) != 0 || status.st_nlink == 0) {
    ::close(file);
    errno = EEXIST;
    return;
  }
  const std::string text = fmt::format("{} {}\n", getpid(), hostName());
  // A full disk is reported when the part is written; the lock is valid even without the text.
  [[maybe_unused]] const ssize_t written = ::write(file, text.data(), text.size());
  file_ = file;
}

// The name is removed before the lock is released: no process can find the file without the lock.
PartOwner::~PartOwner() {
  if (file_ < 0)
    return;
  unlink(path_.c_str());
  ::close(file_);
}

std::string partOf(const std::string& name) {
  return name.ends_with(kOwnerEnding) ? name.substr(0, name.size() - kOwnerEnding.size()) : name;
}

std::optional<std::string> writerOf(const std::string& part) {
  const std::string path = part + std::string(kOwnerEnding);
  int file = ::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0 && errno != ENOENT) // it can belong to another user
    file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0)
    return errno == ENOENT ? std::nullopt : std::optional(Writer().text());
  std::optional<std::string> writer;
  struct stat status {};
  if (flock(file, LOCK_EX | LOCK_NB) != 0 && fstat(file, &status) == 0) {
    const bool isLocked = errno == EWOULDBLOCK;
    if (const Writer lastWriter = readWriter(file); isLocked || !seemsGone(lastWriter, status))
      writer = lastWriter.text();
  }
  ::close(file);
  return writer;
}

} // namespace tenon
