// SPDX-License-Identifier: BSD-2-Clause
// Memory as a solver has it, in pages of its own, which its node's ranks may be let read.
#pragma once

#include "tools/handles.hpp"

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace tenon::tools {

class CallersMemory {
public:
  CallersMemory() = default;
  CallersMemory(std::size_t bytes, std::byte value);
  CallersMemory(CallersMemory&&) noexcept = default;
  CallersMemory& operator=(CallersMemory&& other) noexcept;
  ~CallersMemory();

  std::byte* data() const { return memory_.get(); }
  std::size_t bytes() const { return bytes_; }
  // With the ranks of the mesh, once.
  void share(Partition mesh);

private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  std::size_t bytes_ = 0;
  Partition mesh_; // NULL unless shared
};

} // namespace tenon::tools
