// SPDX-License-Identifier: BSD-2-Clause
// Reads the memory map of this process from Linux (/proc/self). It is used before pages of a user's
// array are replaced by shared pages, so missing information is an error, never a guess.
#include "sys/memory/own_memory.hpp"

#include "sys/errors/error.hpp"
#include "sys/files/part_file.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sstream>

namespace tenon {

namespace {

const std::byte* addressOf(std::uintptr_t number) {
  return reinterpret_cast<const std::byte*>(number); // NOLINT(performance-no-int-to-ptr)
}

// Parses one line, such as "55d0c8a00000-55d0c8a21000 rw-p 00000000 00:00 0 [heap]".
MappedRange rangeOf(const std::string& line) {
  std::istringstream in(line);
  std::uintptr_t begin = 0, end = 0;
  char dash = 0;
  std::string permissions, offset, device;
  MappedRange range;
  in >> std::hex >> begin >> dash >> end >> permissions >> offset >> device >> std::dec >>
      range.file >> std::ws;
  std::getline(in, range.name);
  permissions.resize(4, '-');
  range.begin = addressOf(begin);
  range.end = addressOf(end);
  range.isReadable = permissions[0] == 'r';
  range.isWritable = permissions[1] == 'w';
  range.isShared = permissions[3] == 's';
  return range;
}

} // namespace

std::vector<MappedRange> mappedRanges(const std::byte* begin, Index bytes) {
  std::istringstream lines(readWholeFile("/proc/self/maps", "the list of mapped memory"));
  std::vector<MappedRange> ranges;
  for (std::string line; std::getline(lines, line);) {
    MappedRange range = rangeOf(line);
    if (range.begin < begin + bytes && range.end > begin)
      ranges.push_back(std::move(range));
  }
  return ranges;
}

bool touchesOwnStack(const std::byte* begin, Index bytes) {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0)
    return false;
  void* lowest = nullptr;
  std::size_t size = 0;
  const bool isKnown = pthread_attr_getstack(&attributes, &lowest, &size) == 0;
  pthread_attr_destroy(&attributes);
  const auto* stack = static_cast<const std::byte*>(lowest);
  return isKnown && begin < stack + size && begin + bytes > stack;
}

void copyPages(const std::byte* from, std::byte* to, Index bytes) {
  const int memory = ::open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  Index copied = 0;
  while (memory >= 0 && copied < bytes) {
    // A read can end early, at a limit of the system or by a signal.
    const ssize_t count =
        pread(memory, to + copied, bytes - copied,
              static_cast<off_t>(reinterpret_cast<std::uintptr_t>(from + copied)));
    if (count > 0)
      copied += count;
    else if (count == 0 || errno != EINTR)
      break;
  }
  const int cause = errno;
  if (memory >= 0)
    ::close(memory);
  if (copied < bytes)
    throw Error(TENON_ERR_MEMORY,
                fmt::format("cannot read /proc/self/mem: {}", std::strerror(cause)));
}

} // namespace tenon
