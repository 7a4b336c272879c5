// SPDX-License-Identifier: BSD-2-Clause
// Memory as a solver has it, in pages of its own, which its node's ranks may be let read. The pages are a
// mapping of their own, since pages of the heap stay apart from their neighbours once shared.
#pragma once

#include "tools/handles.hpp"

#include <cstddef>
#include <utility>

namespace tenon::tools {

class CallersMemory {
public:
  CallersMemory() = default;
  CallersMemory(std::size_t bytes, std::byte value);
  CallersMemory(CallersMemory&& other) noexcept { *this = std::move(other); }
  CallersMemory& operator=(CallersMemory&& other) noexcept;
  ~CallersMemory();

  std::byte* data() const { return memory_; }
  std::size_t bytes() const { return bytes_; }
  // With the ranks of the mesh, once.
  void share(Partition mesh);

private:
  // A mapping has at least one byte.
  std::size_t mappedBytes() const { return bytes_ > 0 ? bytes_ : 1; }

  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0;
  Partition mesh_; // NULL unless shared
};

} // namespace tenon::tools
