// SPDX-License-Identifier: BSD-2-Clause
#include "tools/callers_memory.hpp"

#include <sys/mman.h>

#include <cstring>
#include <new>

namespace tenon::tools {

CallersMemory::CallersMemory(std::size_t bytes, std::byte value) : bytes_(bytes) {
  void* pages =
      mmap(nullptr, mappedBytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED)
    throw std::bad_alloc();
  memory_ = static_cast<std::byte*>(pages);
  std::memset(memory_, std::to_integer<int>(value), bytes);
}

CallersMemory& CallersMemory::operator=(CallersMemory&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(bytes_, other.bytes_);
  std::swap(mesh_, other.mesh_);
  return *this;
}

CallersMemory::~CallersMemory() {
  if (mesh_)
    TenonPartitionUnshareMemory(mesh_, memory_);
  if (memory_)
    munmap(memory_, mappedBytes());
}

void CallersMemory::share(Partition mesh) {
  require(TenonPartitionShareMemory(mesh, memory_, bytes_));
  mesh_ = std::move(mesh);
}

} // namespace tenon::tools
