// SPDX-License-Identifier: BSD-2-Clause
// Memory that the devices of a communicator's ranks on one node read in each other's: each rank
// takes it from slabs of its own, which the others open when they first hear of them. It is device
// memory where every rank can open that of all others, else host memory.
#pragma once

#include "comm/memory/node.hpp"
#include "comm/memory/shared_arena.hpp"
#include "sys/device.hpp"
#include "sys/memory/memory.hpp"

#include <map>
#include <mutex>
#include <vector>

namespace tenon {

// Memory of a rank that kernels of the other ranks of its node read: pieces, and the keys by which
// the others open them. It is device memory, which CUDA IPC shows, or shared host memory, which
// each rank registers with its device.
class ShownMemory {
public:
  struct Piece {
    std::byte* memory = nullptr;
    Index bytes = 0;
    MemoryKey key{};
  };

  virtual ~ShownMemory() = default;
  // Takes a piece of at least that many bytes; without memory if the device has none left. Throws
  // TENON_ERR_MEMORY if the host has none.
  virtual Piece take(Index leastBytes) = 0;
  // Gives a piece back that nobody reads any more.
  virtual void giveBack(const Piece& piece) noexcept = 0;
  // Opens what another rank shows. Throws TENON_ERR_LIBRARY with the text of the driver if it
  // cannot be opened.
  virtual std::byte* open(const MemoryKey& key) = 0;
  virtual void close(std::byte* memory) noexcept = 0;
  virtual void fill(void* memory, unsigned char byte, Index bytes) = 0;
  // The kind of memory, for a view.
  virtual const char* describe() const noexcept = 0;
};

// The place of memory, as it is told to the other ranks.
struct DevicePlace {
  MemoryKey slab{};
  Index offset = 0;
};

class DeviceArena final : public MemorySource {
public:
  // Collective over comm, whose ranks on the node share `host`. A kind of memory is taken if every
  // rank of the node can open that of all others and reads there what they have written; with
  // neither kind no rank of the node has an arena. `reason` says why it is not device memory; "" if
  // it is.
  struct Made {
    std::shared_ptr<DeviceArena> arena = {};
    std::string reason = {};
  };
  static Made make(MPI_Comm comm, const std::shared_ptr<SharedArena>& host,
                   const std::string& whyNoHost);
  // The kernels that read the memory of others have to be done, and so do those of others that read
  // this rank's.
  ~DeviceArena() override;
  DeviceArena(const DeviceArena&) = delete;
  DeviceArena& operator=(const DeviceArena&) = delete;

  void* take(Index bytes) override;
  void giveBack(void* memory) noexcept override;
  // The space is the device's, since kernels use the memory, wherever it is.
  Space space() const noexcept override { return Space::Device; }
  void fill(void* memory, unsigned char byte, Index bytes) override;

  // The kind of memory, for a view.
  std::string describe() const { return memory_->describe(); }
  // The place of memory that was taken here.
  DevicePlace placeOf(const void* memory) const;
  // The address of a place that another rank of the node has told. Throws TENON_ERR_LIBRARY if its
  // slab cannot be opened.
  const std::byte* at(const DevicePlace& place);

private:
  struct Slab : ShownMemory::Piece {
    FirstFit places;

    bool contains(const void* p) const { return p >= memory && p < memory + bytes; }
  };
  using MakeMemory = std::function<std::unique_ptr<ShownMemory>()>;
  struct Tried {
    std::shared_ptr<DeviceArena> arena;
    Reason why; // there is none
  };
  static Tried tryWith(const Node& node, const MakeMemory& makeMemory);
  explicit DeviceArena(std::unique_ptr<ShownMemory> memory);
  bool addSlab(Index leastBytes);
  // Copies between the device and the host, which waits for it.
  void copy(void* to, const void* from, Index bytes) const;
  // Whether these host data are what is at another rank's place.
  bool finds(const void* data, Index bytes, const DevicePlace& place);

  Stream stream_;
  std::unique_ptr<ShownMemory> memory_;
  mutable std::mutex mutex_; // buffers can be given back in another thread
  std::vector<Slab> slabs_;
  std::map<MemoryKey, std::byte*> opened_;
};

} // namespace tenon
