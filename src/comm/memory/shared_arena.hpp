// SPDX-License-Identifier: BSD-2-Clause
// SharedArena: memory that the ranks of a communicator on one node share. Each rank has a segment,
// allocates its arrays in it, and reads arrays of the other ranks in place.
//
// Memory is committed when it is allocated, so a full /dev/shm is detected then. Buffers and lanes
// own the arena, which can outlive its communicator.
//
// User memory can become part of the arena: its pages are copied into the segment, and the segment
// is mapped in their place, so address and values do not change.
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
  // Collective over comm. `bytes` is the maximum that this rank allocates, or -1 for its share of
  // /dev/shm. If the arena cannot be created on every rank of a node, no rank has one, and `reason`
  // is why; a rank alone on its node needs none. If the size of the process's files is limited the
  // arena is smaller, and `whySmall` is why.
  struct Made {
    std::shared_ptr<SharedArena> arena = {};
    std::string reason = {};
    bool isAlone = false;
    std::string whySmall = {};
  };
  static Made make(MPI_Comm comm, Index bytes);

  void* take(Index bytes) override;
  void giveBack(void* memory) noexcept override;
  // A buffer that is retained until a counter in it, which another rank increments, has reached the
  // value. Passed as a list with one node that was allocated before, since there can be no memory
  // left when the owner of the buffer is destroyed.
  struct Pending {
    Buffer buffer;
    const std::atomic<std::uint64_t>* counter = nullptr;
    std::uint64_t value = 0;
  };
  void keep(std::list<Pending> pending) noexcept;
  // Frees the retained buffers without waiting for their readers; later allocations fail.
  void close();

  // Makes the pages that contain the user's memory part of the segment, until unshare(). close()
  // does not undo this, since a mapping outlives its file. Throws TENON_ERR_ARG if some pages are
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
  // The data that each rank sends to the other ranks of its node.
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
  int own_ = 0;
  mutable std::mutex mutex_;
  FirstFit places_{0};
  std::list<Pending> pending_;
  std::map<std::byte*, SharedPages> sharedPages_; // By first page.
  bool closed_ = false;
};

} // namespace tenon
