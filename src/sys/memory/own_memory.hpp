// SPDX-License-Identifier: BSD-2-Clause
// The memory of this process as the system manages it: pages, mapped from files or anonymous.
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
  std::uint64_t file = 0; // inode of the file, or 0
  std::string name;       // name of the file, or such as "[heap]"
};

// The mapped ranges that overlap a range, in the order of addresses.
std::vector<MappedRange> mappedRanges(const std::byte* begin, Index bytes);

// Whether the range overlaps the stack of the calling thread.
bool touchesOwnStack(const std::byte* begin, Index bytes);

// Copies whole pages. Pages contain bytes outside of allocations, which memory checkers would
// report if a load read them; so the system reads them (/proc/self/mem). Throws TENON_ERR_MEMORY
// with the reason.
void copyPages(const std::byte* from, std::byte* to, Index bytes);

} // namespace tenon
