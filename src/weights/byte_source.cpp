// SPDX-License-Identifier: BSD-2-Clause
// The two sources of bytes from which weights and models are read: a file (FileBytes) and memory
// (MemoryBytes), with the functions that open them and that throw their errors. Files are read by
// pread(), so readers do not share a file position, and several threads can read. A file that has
// become shorter since it was opened is an error: read() returns all requested bytes or throws.
#include "weights/byte_source.hpp"

#include "sys/errors/error.hpp"
#include "sys/files/regular_file.hpp"

#include <fmt/format.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace tenon {

namespace {

class FileBytes final : public ByteSource {
public:
  FileBytes(const std::string& path, const std::string& kind, int file)
      : ByteSource(path, kind), file_(file) {
    struct stat status {};
    if (fstat(file_, &status) == 0)
      size_ = status.st_size;
  }
  ~FileBytes() override { close(file_); }

  Index size() const noexcept override { return size_; }

  void read(Index offset, std::byte* to, Index count) const override {
    while (count > 0) {
      const ssize_t received = pread(file_, to, static_cast<std::size_t>(count), offset);
      // A signal, for example from a batch system, can interrupt the call: try again.
      if (received < 0 && errno == EINTR)
        continue;
      if (received <= 0)
        failFile(received < 0 ? std::strerror(errno) : "it has become shorter since it was opened");
      offset += received;
      to += received;
      count -= received;
    }
  }

private:
  [[noreturn]] void failFile(const std::string& reason) const {
    throw Error(TENON_ERR_FILE, fmt::format("cannot read {} '{}': {}", kind(), name(), reason));
  }

  int file_;
  Index size_ = 0;
};

class MemoryBytes final : public ByteSource {
public:
  MemoryBytes(const std::byte* first, Index count, std::string name)
      : ByteSource(std::move(name)), first_(first), count_(count) {}
  Index size() const noexcept override { return count_; }
  void read(Index offset, std::byte* to, Index count) const override {
    std::copy_n(first_ + offset, count, to);
  }

private:
  const std::byte* first_;
  Index count_;
};

} // namespace

std::vector<std::byte> ByteSource::readPart(Index offset, Index count, const char* what) const {
  if (offset < 0 || count < 0 || offset > size() || count > size() - offset)
    fail("", fmt::format("{}, {} bytes at {}, lies beyond the file's {} bytes: the file is "
                         "truncated or damaged",
                         what, count, offset, size()));
  std::vector<std::byte> bytes(static_cast<std::size_t>(count));
  read(offset, bytes.data(), count);
  return bytes;
}

void ByteSource::fail(const std::string& tensor, const std::string& why) const {
  throw Error(TENON_ERR_FORMAT, tensor.empty()
                                    ? fmt::format("{} '{}': {}", kind_, name_, why)
                                    : fmt::format("{} '{}', '{}': {}", kind_, name_, tensor, why));
}

std::unique_ptr<ByteSource> openBytes(const std::string& path, const std::string& kind) {
  return std::make_unique<FileBytes>(path, kind, openRegularFile(path, "cannot read " + kind));
}

// Paths in a file are not trusted, so they are resolved below the folder.
std::unique_ptr<ByteSource> openBytesBelow(const std::string& folder, const std::string& path,
                                           const std::string& kind) {
  return std::make_unique<FileBytes>(folder + "/" + path, kind,
                                     openRegularFileBelow(folder, path, "cannot read " + kind));
}

std::unique_ptr<ByteSource> bytesAt(const std::byte* first, Index count, std::string name) {
  return std::make_unique<MemoryBytes>(first, count, std::move(name));
}

// From the most significant byte to the least.
std::uint64_t littleEndian(const std::byte* from, int count) {
  std::uint64_t number = 0;
  for (int i = count; i-- > 0;)
    number = number << 8 | std::to_integer<std::uint64_t>(from[i]);
  return number;
}

} // namespace tenon
