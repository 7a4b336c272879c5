// SPDX-License-Identifier: BSD-2-Clause
#include "io/prefetch.hpp"

#include "sys/regular_file.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace tenon {

namespace {

// What a thread begins with. The signals of the process go to the other threads.
class SignalsBlocked {
public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

private:
  sigset_t before_{};
};

// "" if all of it was read.
std::string readPiece(int file, FilePiece piece) {
  while (piece.bytes > 0) {
    const ssize_t got = pread(file, piece.to, static_cast<std::size_t>(piece.bytes), piece.offset);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return std::strerror(errno);
    if (got == 0)
      return fmt::format("it ends before byte {}", piece.offset);
    piece.offset += got;
    piece.to += got;
    piece.bytes -= got;
  }
  return "";
}

} // namespace

Prefetch::Prefetch(const std::string& path) : file_(openRegularFile(path, "cannot open")) {}

Prefetch::~Prefetch() {
  wait();
  ::close(file_);
}

void Prefetch::start(std::vector<FilePiece> pieces) {
  wait();
  failure_.clear();
  const SignalsBlocked blocked;
  thread_ = std::thread([this, pieces = std::move(pieces)] { run(pieces); });
}

std::string Prefetch::wait() {
  if (thread_.joinable())
    thread_.join();
  return failure_;
}

void Prefetch::run(const std::vector<FilePiece>& pieces) {
  for (const FilePiece& piece : pieces)
    if (failure_ = readPiece(file_, piece); !failure_.empty())
      return;
}

} // namespace tenon
