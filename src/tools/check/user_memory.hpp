// SPDX-License-Identifier: BSD-2-Clause
// Memory for the user arrays of tensors under test, like the arrays of a solver. On the host it
// consists of separate mapped pages (mmap), because share() makes whole pages accessible to the
// ranks of a node, and pages of the heap also contain other data. On the device it is the memory of
// a tensor that is used for nothing else.
#pragma once

#include "tools/handles.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace tenon::tools {

class UserMemory {
public:
  UserMemory() = default;
  UserMemory(std::size_t bytes, std::byte value, TenonMemorySpace space = TENON_MEMORY_HOST);
  UserMemory(UserMemory&& other) noexcept { *this = std::move(other); }
  UserMemory& operator=(UserMemory&& other) noexcept;
  ~UserMemory();

  std::byte* data() const { return memory_; }
  std::size_t bytes() const { return bytes_; }
  // The contents, after work on the memory is done.
  std::vector<std::byte> content() const;
  // Shares the memory with the ranks of the grid. Call at most once, and on the host only.
  void share(Partition grid);

private:
  void map(std::byte value);
  void allocateOnDevice(std::byte value);
  // A mapping has at least one byte.
  std::size_t mappedBytes() const { return bytes_ > 0 ? bytes_ : 1; }

  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0;
  Partition grid_;   // NULL unless shared
  DTensor onDevice_; // NULL on the host
};

} // namespace tenon::tools
