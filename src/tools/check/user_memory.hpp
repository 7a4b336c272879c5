// SPDX-License-Identifier: BSD-2-Clause
// Memory as a solver has it. On the host it is in pages of its own, which the ranks of its node may
// be allowed to read: a mapping, since pages of the heap stay apart from their neighbours once they
// are shared. On the device it is the memory of a tensor which does nothing else.
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
  // The content, once work on it is done.
  std::vector<std::byte> content() const;
  // Shares the memory with the ranks of the grid; once, and on the host only.
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
