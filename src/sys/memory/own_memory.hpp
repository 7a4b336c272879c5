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
  std::uint64_t file = 0; // its inode, 0 without one
  std::string name;       // of the file, or as "[heap]"
};

// Those that touch the range, by address.
std::vector<MappedRange> mappedRanges(const std::byte* begin, Index bytes);

// Whether some of the range belongs to the stack of the thread that asks.
bool touchesOwnStack(const std::byte* begin, Index bytes);

// Whole pages hold more than what somebody allocated, which memory checkers would report if it were
// read by a load: the system reads them instead. Throws TENON_ERR_MEMORY with the reason.
void copyPages(const std::byte* from, std::byte* to, Index bytes);

} // namespace tenon
