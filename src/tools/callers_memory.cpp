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
  std::swap(sharedBy_, other.sharedBy_);
  return *this;
}

CallersMemory::~CallersMemory() {
  if (sharedBy_)
    TenonPartitionUnshareMemory(sharedBy_, memory_.get());
}

void CallersMemory::share(TenonLayout layout) {
  Partition partition;
  require(TenonLayoutGetPartition(layout, partition.out()));
  const TenonErrorCode code = TenonPartitionShareMemory(partition, memory_.get(), bytes_);
  if (code == TENON_ERR_SUPPORT || code == TENON_ERR_MEMORY)
    return;
  require(code);
  sharedBy_ = std::move(partition);
}

} // namespace tenon::tools
