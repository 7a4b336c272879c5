// SPDX-License-Identifier: BSD-2-Clause
// DeviceArena: memory that the devices of the ranks of a node read from each other. Each rank
// allocates from its own slabs (large pieces of memory). Another rank opens a slab, that is, maps
// it into its own addresses, when it first receives an address in it:
//
//   owner    memory = arena.allocate(bytes)
//            place = arena.placeOf(memory)      the key of the slab, and the offset in it
//            sends the place in a message
//   reader   arena.at(place)                    the address of the same memory in this process;
//                                               its kernels can read from there
//
// The slabs are device memory, shared by CUDA IPC, if every rank can open those of all others;
// otherwise they are shared host memory (SharedArena), which every device can read.
#pragma once

#include "comm/memory/node.hpp"
#include "comm/memory/shared_arena.hpp"
#include "sys/device.hpp"
#include "sys/memory/memory.hpp"

#include <map>
#include <mutex>
#include <vector>

namespace tenon {

// Memory of a rank that kernels of the other ranks of its node read: pieces, and the keys (64 bytes
// that can be sent in a message) by which other ranks open them. It is device memory shared by CUDA
// IPC, whose keys are CUDA's IPC handles, or shared host memory that each rank registers with its
// device, whose keys are rank, offset and size.
class ShownMemory {
public:
  struct Piece {
    std::byte* memory = nullptr;
    Index bytes = 0;
    MemoryKey key{};
  };

  virtual ~ShownMemory() = default;
  // Allocates a piece of at least that many bytes; its memory is NULL if the device has none left.
  // Throws TENON_ERR_MEMORY if the host has none left.
  virtual Piece allocate(Index minBytes) = 0;
  // Frees a piece that no rank reads any more.
  virtual void deallocate(const Piece& piece) noexcept = 0;
  // Opens a piece of another rank for kernels of this rank, and returns its local address. Throws
  // TENON_ERR_LIBRARY with the driver's text if that fails.
  virtual std::byte* open(const MemoryKey& key) = 0;
  virtual void close(std::byte* memory) noexcept = 0;
  virtual void fill(void* memory, unsigned char byte, Index bytes) = 0;
  // The kind of memory, for views.
  virtual const char* describe() const noexcept = 0;
};

// The address of memory in a form that can be sent to other ranks.
struct DevicePlace {
  MemoryKey slab{};
  Index offset = 0;
};

class DeviceArena final : public MemorySource {
public:
  // Collective over comm, whose ranks on the node share the arena `host`. A kind of memory is used
  // if every rank of the node can open the memory of all other ranks, and reads what they have
  // written to it. If neither kind can be used, no rank of the node has an arena. `reason` says why
  // the arena is not device memory, or is "".
  struct Made {
    std::shared_ptr<DeviceArena> arena = {};
    std::string reason = {};
  };
  static Made make(MPI_Comm comm, const std::shared_ptr<SharedArena>& host,
                   const std::string& whyNoHost);
  // Kernels that read memory of other ranks must have ended, and so must kernels of other ranks
  // that read this rank's memory.
  ~DeviceArena() override;
  DeviceArena(const DeviceArena&) = delete;
  DeviceArena& operator=(const DeviceArena&) = delete;

  void* allocate(Index bytes) override;
  void deallocate(void* memory) noexcept override;
  // Device space, since kernels use the memory wherever it is.
  Space space() const noexcept override { return Space::Device; }
  void fill(void* memory, unsigned char byte, Index bytes) override;

  // The kind of memory, for views.
  std::string describe() const { return memory_->describe(); }
  // The address of memory that was allocated from this arena.
  DevicePlace placeOf(const void* memory) const;
  // The local address of memory at another rank of the node. Throws TENON_ERR_LIBRARY if its slab
  // cannot be opened.
  const std::byte* at(const DevicePlace& place);

private:
  struct Slab : ShownMemory::Piece {
    FirstFit places;

    bool contains(const void* p) const { return p >= memory && p < memory + bytes; }
  };
  using MakeMemory = std::function<std::unique_ptr<ShownMemory>()>;
  struct Trial {
    std::shared_ptr<DeviceArena> arena;
    Reason reason; // Why there is no arena, if so.
  };
  static Trial tryWith(const Node& node, const MakeMemory& makeMemory);
  explicit DeviceArena(std::unique_ptr<ShownMemory> memory);
  bool addSlab(Index minBytes);
  // Copies between device and host, synchronously.
  void copy(void* to, const void* from, Index bytes) const;
  // True if memory at that address has the same content as the host data.
  bool hasContent(const void* data, Index bytes, const DevicePlace& place);

  Stream stream_;
  std::unique_ptr<ShownMemory> memory_;
  mutable std::mutex mutex_; // Buffers can be freed in another thread.
  std::vector<Slab> slabs_;
  std::map<MemoryKey, std::byte*> opened_; // Slabs of other ranks, and their local addresses.
};

} // namespace tenon
