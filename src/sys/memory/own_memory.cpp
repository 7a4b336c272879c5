// SPDX-License-Identifier: BSD-2-Clause
// Gets information on the memory of this process from Linux: the mapped ranges from
// /proc/self/maps, the stack of the calling thread from pthread_getattr_np(), and the contents of
// pages from /proc/self/mem. A file that cannot be read is an error, since the caller would
// otherwise replace pages of which it knows nothing.
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

// Parses one line: begin-end, permissions (read, write, execute, private or shared), offset in the
// file, device, inode, name. For example "55d0c8a00000-55d0c8a21000 rw-p 00000000 00:00 0 [heap]".
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

// pthread_getattr_np() can fail if memory is short or, in the first thread, if /proc/self/maps
// cannot be read.
bool touchesOwnStack(const std::byte* begin, Index bytes) {
  pthread_attr_t attributes;
  void* lowest = nullptr;
  std::size_t size = 0;
  int error = pthread_getattr_np(pthread_self(), &attributes);
  if (error == 0) {
    error = pthread_attr_getstack(&attributes, &lowest, &size);
    pthread_attr_destroy(&attributes);
  }
  if (error != 0)
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("cannot find the stack of this thread: {}", std::strerror(error)));
  const auto* stack = static_cast<const std::byte*>(lowest);
  return begin < stack + size && begin + bytes > stack;
}

void copyPages(const std::byte* from, std::byte* to, Index bytes) {
  const int memoryFile = ::open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  Index copied = 0;
  while (memoryFile >= 0 && copied < bytes) {
    // A read can end early, at a limit of the system or by a signal.
    const ssize_t count =
        pread(memoryFile, to + copied, bytes - copied,
              static_cast<off_t>(reinterpret_cast<std::uintptr_t>(from + copied)));
    if (count > 0)
      copied += count;
    else if (count == 0 || errno != EINTR)
      break;
  }
  const int cause = errno;
  if (memoryFile >= 0)
    ::close(memoryFile);
  if (copied < bytes)
    throw Error(TENON_ERR_MEMORY,
                fmt::format("cannot read /proc/self/mem: {}", std::strerror(cause)));
}

} // namespace tenon
