// SPDX-License-Identifier: BSD-2-Clause
#include "tools/callers_memory.hpp"

#include <cstring>
#include <new>
#include <utility>

namespace tenon::tools {

CallersMemory::CallersMemory(std::size_t bytes, std::byte value) : bytes_(bytes) {
  constexpr std::size_t kPage = 4096;
  memory_.reset(
      static_cast<std::byte*>(std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage)));
  if (!memory_)
    throw std::bad_alloc();
  std::memset(memory_.get(), std::to_integer<int>(value), bytes);
}

CallersMemory& CallersMemory::operator=(CallersMemory&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(bytes_, other.bytes_);
  std::swap(mesh_, other.mesh_);
  return *this;
}

CallersMemory::~CallersMemory() {
  if (mesh_)
    TenonPartitionUnshareMemory(mesh_, memory_.get());
}

void CallersMemory::share(Partition mesh) {
  require(TenonPartitionShareMemory(mesh, memory_.get(), bytes_));
  mesh_ = std::move(mesh);
}

} // namespace tenon::tools
