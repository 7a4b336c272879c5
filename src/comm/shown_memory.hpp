// SPDX-License-Identifier: BSD-2-Clause
// Memory of a rank that kernels of the other ranks of its node read: pieces, and the keys by which the others open
// them. It is memory of the device, which CUDA IPC shows, or shared memory of the host, which each rank registers with
// its device.
#pragma once

#include "comm/shared_arena.hpp"
#include "sys/device.hpp"

namespace tenon {

class ShownMemory {
public:
  struct Piece {
    std::byte* memory = nullptr;
    Index bytes = 0;
    MemoryKey key{};
  };

  virtual ~ShownMemory() = default;
  // Of at least so many bytes, without memory if the device has none left. Throws TENON_ERR_MEMORY if the host has none.
  virtual Piece take(Index leastBytes) = 0;
  // Nobody reads it any more.
  virtual void giveBack(const Piece& piece) noexcept = 0;
  // What another rank shows. Throws TENON_ERR_LIBRARY with the driver's text if it cannot be opened.
  virtual std::byte* open(const MemoryKey& key) = 0;
  virtual void close(std::byte* memory) noexcept = 0;
  virtual void fill(void* memory, unsigned char byte, Index bytes) = 0;
  // For a view.
  virtual const char* describe() const noexcept = 0;
};

// The device's is never freed, since CUDA leaves open what happens to a rank that still has it open, and no rank can
// know: it is kept for the next taker.
std::unique_ptr<ShownMemory> shownDeviceMemory();
// From this rank's segment of the arena. `rank`: of the arena's communicator.
std::unique_ptr<ShownMemory> shownHostMemory(std::shared_ptr<SharedArena> arena, int rank);

} // namespace tenon
