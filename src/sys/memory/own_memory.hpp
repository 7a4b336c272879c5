// SPDX-License-Identifier: BSD-2-Clause
// The memory of this process as the system manages it: its mapped ranges, the stack of a thread,
// and a copy of whole pages. SharedArena::share() uses these functions before it replaces the pages
// of a user's array, such as those of a malloc(), by pages that other processes can read: all pages
// must be mapped, private and writable, and must not belong to a stack.
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

// Whether the range overlaps the stack of the calling thread. Throws TENON_ERR_SUPPORT if the
// system does not tell where that stack is.
bool touchesOwnStack(const std::byte* begin, Index bytes);

// Copies whole pages. These contain bytes before and after the user's array: metadata of malloc(),
// and memory that was freed. memcpy() would load these bytes, which address sanitizers and valgrind
// report as errors of the program. So the system reads them, from the file /proc/self/mem, whose
// offsets are the addresses of this process. Throws TENON_ERR_MEMORY with the reason if it cannot.
void copyPages(const std::byte* from, std::byte* to, Index bytes);

} // namespace tenon
