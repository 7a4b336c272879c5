// SPDX-License-Identifier: BSD-2-Clause
// Locks by flock(), which belong to an open file and so tell apart two writers of one process too.
// The part itself is not locked, since HDF5 and MPI lock it in ways of their own.
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
constexpr int kMaxHost = 64;            // bytes of a host's name, as the system has them

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

// Without locks.
bool seemsGone(const Writer& writer, const struct stat& known) {
  if (writer.process > 0 && writer.host == hostName())
    return kill(static_cast<pid_t>(writer.process), 0) != 0 && errno == ESRCH;
  return std::time(nullptr) - known.st_mtime > kDay;
}

} // namespace

PartOwner::PartOwner(const std::string& part) : path_(part + std::string(kOwnerEnding)) {
  const int file =
      ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kOwnerMode);
  if (file < 0)
    return;
  // Somebody who clears the folder may take the file for one that was left, and remove it.
  struct stat known {};
  const bool isTaken = flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (isTaken || fstat(file, &known) != 0 || known.st_nlink == 0) {
    ::close(file);
    errno = EEXIST;
    return;
  }
  const std::string text = fmt::format("{} {}\n", getpid(), hostName());
  // A full disk is found by whoever writes the part; without the text the lock still holds.
  [[maybe_unused]] const ssize_t written = ::write(file, text.data(), text.size());
  file_ = file;
}

// The name goes before the lock, so that nobody finds one without the other.
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
  if (file < 0 && errno != ENOENT) // it may be another user's
    file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0)
    return errno == ENOENT ? std::nullopt : std::optional(Writer().text());
  std::optional<std::string> writer;
  struct stat known {};
  if (flock(file, LOCK_EX | LOCK_NB) != 0 && fstat(file, &known) == 0) {
    const bool isLocked = errno == EWOULDBLOCK;
    if (const Writer found = readWriter(file); isLocked || !seemsGone(found, known))
      writer = found.text();
  }
  ::close(file);
  return writer;
}

} // namespace tenon
