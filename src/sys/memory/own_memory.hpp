// SPDX-License-Identifier: BSD-2-Clause
// This process's memory as the system keeps it: in pages, each mapped from somewhere.
#pragma once

#include "sys/types.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tenon {

// One line of /proc/self/maps.
struct MappedRange {
  const std::byte* begin = nullptr;
  const std::byte* end = nullptr;
  bool isReadable = false, isWritable = false, isShared = false;
  std::uint64_t file = 0; // the inode of the file, 0 without one
  std::string name;       // the name of the file, or one such as "[heap]"
};

// The mapped ranges that touch a range, in the order of addresses.
std::vector<MappedRange> mappedRanges(const std::byte* begin, Index bytes);

// Whether some of the range belongs to the stack of the thread that asks.
bool touchesOwnStack(const std::byte* begin, Index bytes);

// Copies whole pages. They hold more than what somebody allocated, which memory checkers would
// report if a load read it, so the system reads them instead. Throws TENON_ERR_MEMORY with the
// reason.
void copyPages(const std::byte* from, std::byte* to, Index bytes);

} // namespace tenon
