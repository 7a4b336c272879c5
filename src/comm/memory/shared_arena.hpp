// SPDX-License-Identifier: BSD-2-Clause
// SharedArena: memory that the ranks of a communicator on one node share. Each rank has a segment,
// a file in /dev/shm that all ranks of the node map. A rank allocates arrays in its own segment,
// and reads arrays of the other ranks in place. Addresses differ between processes, so ranks send
// each other offsets in a segment (places):
//
//   rank 0   memory = arena.allocate(bytes), place = arena.offsetOf(memory); sends the place
//   rank 1   arena.at(0, place) is the same memory in this process
//
// Memory is committed when it is allocated, so a full /dev/shm is an error of the allocation. Every
// buffer in the arena has a reference to it, so the arena can outlive its communicator.
//
// share() makes user memory part of the arena: its pages are copied into the segment, and the
// segment is mapped at the same addresses, so pointers and values remain valid.
#pragma once

#include "comm/memory/node.hpp"
#include "comm/memory/shared_segment.hpp"
#include "comm/mpi.hpp"
#include "sys/memory/memory.hpp"

#include <array>
#include <atomic>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace tenon {

class SharedArena final : public MemorySource {
public:
  // Result of make(). If the arena cannot be created on every rank of a node, no rank of the node
  // has one, and `reason` is the cause. A rank alone on its node needs no arena (isAlone). If the
  // size of files is limited (ulimit -f), the arena is smaller than requested, and `whySmall` is
  // the cause.
  struct Made {
    std::shared_ptr<SharedArena> arena = {};
    std::string reason = {};
    bool isAlone = false;
    std::string whySmall = {};
  };
  // Collective over comm. `bytes` is the maximum that this rank allocates, or -1 for its share of
  // /dev/shm.
  static Made make(MPI_Comm comm, Index bytes);

  // Allocates from this rank's segment, or returns NULL.
  void* allocate(Index bytes) override;
  void deallocate(void* memory) noexcept override;
  // A buffer that other ranks may still read after its owner has been destroyed. keep() retains the
  // buffer until `counter`, which is in the buffer and is incremented by its reader, has reached
  // `value`. The caller passes a list with one node that it allocated earlier, since a destructor
  // must not allocate.
  struct Pending {
    Buffer buffer;
    const std::atomic<std::uint64_t>* counter = nullptr;
    std::uint64_t value = 0;
  };
  void keep(std::list<Pending> pending) noexcept;
  // Frees the retained buffers without waiting for their readers; later allocations fail.
  void close();

  // Makes the pages that contain the user's memory part of the segment, until unshare(). The pages
  // remain valid after close(), since a mapping outlives its file. Throws TENON_ERR_ARG if some are
  // already shared, TENON_ERR_SUPPORT unless the pages are private and writable, and
  // TENON_ERR_MEMORY if the segment has no memory left.
  void share(void* memory, Index bytes);
  // Makes the pages private again. Throws TENON_ERR_ARG unless that memory is shared. If it has
  // been unmapped since, removes it from the arena and throws TENON_ERR_STATE.
  void unshare(void* memory);

  // True if memory is in the segment of this rank; offsetOf() is its offset.
  bool contains(const void* memory) const noexcept;
  Index offsetOf(const void* memory) const noexcept;
  // Offset of memory that is entirely in the segment, or in shared pages of the user.
  std::optional<Index> placeOf(const void* memory, Index bytes) const;
  // The address of an offset in the segment of another rank of this node.
  std::byte* at(int rank, Index offset) const noexcept;
  // True if a rank of the communicator is on this node.
  bool isOnNode(int rank) const noexcept { return nodeRankOf_[rank] >= 0; }
  int nodeSize() const noexcept { return static_cast<int>(segments_.size()); }
  // Bytes that this rank has allocated.
  Index bytesTaken() const;

private:
  // Pages of the user, and their offset in the segment.
  struct SharedPages {
    const void* memory; // Address as passed by the user.
    Index bytes, place;
  };
  // Sent by each rank to the other ranks of its node, which map its segment.
  struct Offer {
    std::array<char, 64> name{}; // Name of its segment's file.
    Index bytes = 0;
    int rank = 0; // Rank in the communicator.
  };
  SharedArena() = default;
  static Offer offerOf(MPI_Comm comm, const std::string& name, Index bytes);
  void reserve(MPI_Comm comm, const Node& node, const Offer& mine);
  void map(const std::vector<Offer>& offers);
  void releasePending();
  void checkNotShared(const std::byte* pages, Index bytes) const;
  std::optional<Index> takeCommitted(Index bytes, Index alignment);

  std::vector<SharedSegment> segments_; // By rank on the node.
  std::vector<int> nodeRankOf_;         // By rank in the communicator; -1 on other nodes.
  int own_ = 0;                         // This rank's index in segments_.
  mutable std::mutex mutex_;
  FirstFit places_{0};
  std::list<Pending> pending_;
  std::map<std::byte*, SharedPages> sharedPages_; // By first page.
  bool closed_ = false;
};

} // namespace tenon
