// SPDX-License-Identifier: BSD-2-Clause
// Device memory that the ranks of a communicator on one node read in each other's: each takes it from slabs of its
// own, which the others open (CUDA IPC) when they first hear of them.
//
// A slab is never freed, since CUDA leaves open what happens to a rank that still has it open, and no rank can know;
// the next communicator takes it. It is a multiple of what CUDA shares as a whole, so that nothing else is shown.
#pragma once

#include "comm/mpi.hpp"
#include "sys/device.hpp"
#include "sys/first_fit.hpp"

#include <map>
#include <mutex>
#include <vector>

namespace tenon {

// Where memory lies, for the other ranks.
struct DevicePlace {
  MemoryKey slab{};
  Index offset = 0;
};

class DeviceArena final : public MemorySource {
public:
  // Collective over comm. On a node where not every rank can open the memory of all others, and reads there what they
  // have written, none has one, and `reason` says why; so it is where `whyNot` says it before.
  struct Made {
    std::shared_ptr<DeviceArena> arena = {};
    std::string reason = {};
  };
  static Made make(MPI_Comm comm, const std::string& whyNot);
  // Kernels that read the memory of others are done, and so are those of others that read this rank's.
  ~DeviceArena() override;
  DeviceArena(const DeviceArena&) = delete;
  DeviceArena& operator=(const DeviceArena&) = delete;

  void* take(Index bytes) override;
  void giveBack(void* memory) noexcept override;
  Space space() const noexcept override { return Space::Device; }
  void fill(void* memory, unsigned char byte, Index bytes) override;

  // Of memory that was taken here.
  DevicePlace placeOf(const void* memory) const;
  // The place of another rank of the node. Throws TENON_ERR_LIBRARY if its slab cannot be opened.
  const std::byte* at(const DevicePlace& place);

private:
  struct Slab {
    std::byte* memory;
    Index bytes;
    MemoryKey key;
    FirstFit places;

    bool contains(const void* p) const { return p >= memory && p < memory + bytes; }
  };
  // Of communicators that have gone.
  struct Spare {
    std::mutex mutex;
    std::vector<Slab> slabs;
  };
  static Spare& spare();
  DeviceArena();
  bool addSlab(Index leastBytes);
  // Between the device and the host, which waits for it.
  void copy(void* to, const void* from, Index bytes) const;
  // Whether these data of the host are what lies at another rank's place.
  bool finds(const void* data, Index bytes, const DevicePlace& place);

  Stream stream_;
  std::shared_ptr<MemorySource> source_;
  mutable std::mutex mutex_; // buffers may be given back in another thread
  std::vector<Slab> slabs_;
  std::map<MemoryKey, void*> opened_;
};

} // namespace tenon
