// SPDX-License-Identifier: BSD-2-Clause
// User memory as in a solver: mapped pages on the host, the array of a tensor on the device.
// Sharing replaces the pages by those of a file, so shared memory must be unshared before it is
// unmapped.
#include "tools/check/user_memory.hpp"

#include <sys/mman.h>

#include <cstring>
#include <new>

namespace tenon::tools {

UserMemory::UserMemory(std::size_t bytes, std::byte value, TenonMemorySpace space) : bytes_(bytes) {
  if (space == TENON_MEMORY_DEVICE)
    allocateOnDevice(value);
  else
    map(value);
}

void UserMemory::map(std::byte value) {
  void* pages =
      mmap(nullptr, mappedBytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED)
    throw std::bad_alloc();
  memory_ = static_cast<std::byte*>(pages);
  std::memset(memory_, std::to_integer<int>(value), bytes_);
}

void UserMemory::allocateOnDevice(std::byte value) {
  const TenonInt none = 0;
  const auto words = static_cast<TenonInt>((bytes_ + sizeof(TenonInt) - 1) / sizeof(TenonInt));
  Layout layout;
  require(TenonLayoutCreateFromBoxes(MPI_COMM_SELF, 1, &words, &none, &words, layout.out()));
  require(TenonDTensorCreate(layout, TENON_INT64, onDevice_.out()));
  require(TenonDTensorSetSpace(onDevice_, TENON_MEMORY_DEVICE));
  // It is filled through the host; the device address is valid for the lifetime of the tensor.
  void* array = nullptr;
  require(TenonDTensorGetArray(onDevice_, TENON_INT64, &array));
  std::memset(array, std::to_integer<int>(value), bytes_);
  require(TenonDTensorRestoreArray(onDevice_, &array));
  require(TenonDTensorGetDeviceArray(onDevice_, TENON_INT64, &array));
  memory_ = static_cast<std::byte*>(array);
  require(TenonDTensorRestoreArray(onDevice_, &array));
}

UserMemory& UserMemory::operator=(UserMemory&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(bytes_, other.bytes_);
  std::swap(grid_, other.grid_);
  std::swap(onDevice_, other.onDevice_);
  return *this;
}

UserMemory::~UserMemory() {
  // Memory must be unshared while it is still mapped.
  if (grid_)
    TenonPartitionUnshareMemory(grid_, memory_);
  if (memory_ && !onDevice_)
    munmap(memory_, mappedBytes());
}

std::vector<std::byte> UserMemory::content() const {
  if (!onDevice_)
    return {memory_, memory_ + bytes_};
  // Device memory is read through the host, too.
  const void* array = nullptr;
  require(TenonDTensorGetArrayRead(onDevice_, TENON_INT64, &array));
  const auto* first = static_cast<const std::byte*>(array);
  std::vector<std::byte> content(first, first + bytes_);
  require(TenonDTensorRestoreArrayRead(onDevice_, &array));
  return content;
}

void UserMemory::share(Partition grid) {
  require(TenonPartitionShareMemory(grid, memory_, bytes_));
  grid_ = std::move(grid);
}

} // namespace tenon::tools
