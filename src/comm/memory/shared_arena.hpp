// SPDX-License-Identifier: BSD-2-Clause
// Memory that the ranks of a communicator on one node share: each has a segment, takes its arrays
// from it, and reads those of the others in place.
//
// Memory is committed when it is taken, so a full /dev/shm is found out then. Buffers and lanes
// keep the arena alive beyond its communicator.
//
// Memory that a caller has already can become part of the arena: its pages are copied into the
// segment, and the segment is mapped in their place, so that addresses and values stay.
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
  // Collective over comm. `bytes` is what this rank can take, -1 for its share of /dev/shm. On a
  // node where the arena cannot be made on every rank, none has one, and `reason` says why; a rank
  // that is alone on its node needs none. Where the size of the process's files is limited the
  // arena is smaller, and `whySmall` says so.
  struct Made {
    std::shared_ptr<SharedArena> arena = {};
    std::string reason = {};
    bool isAlone = false;
    std::string whySmall = {};
  };
  static Made make(MPI_Comm comm, Index bytes);

  void* take(Index bytes) override;
  void giveBack(void* memory) noexcept override;
  // A buffer that is kept until the counter in it, which another rank raises, has reached the
  // value. The list of one is made in time, since no memory may be left when the buffer's owner
  // goes.
  struct Pending {
    Buffer buffer;
    const std::atomic<std::uint64_t>* counter = nullptr;
    std::uint64_t value = 0;
  };
  void keep(std::list<Pending> one) noexcept;
  // Drops the buffers that are kept, without waiting for anybody; nothing can be taken from now on.
  void close();

  // Makes the pages around the caller's memory part of the segment, until it is unshared; close()
  // leaves them so, since what is mapped outlives the segment's owner. Throws TENON_ERR_ARG if some
  // of them are shared already, TENON_ERR_SUPPORT for memory whose pages are not the process's own
  // and writable, TENON_ERR_MEMORY if the segment has no room.
  void share(void* memory, Index bytes);
  // Makes the pages private again. Throws TENON_ERR_ARG unless that memory is shared,
  // TENON_ERR_STATE if it was unmapped meanwhile, and forgets it then.
  void unshare(void* memory);

  // Whether memory is in the segment of this rank, and its offset there.
  bool contains(const void* memory) const noexcept;
  Index offsetOf(const void* memory) const noexcept;
  // The place of memory that is in the segment as a whole, or in pages that are shared.
  std::optional<Index> placeOf(const void* memory, Index bytes) const;
  // The address of a place in the segment of another rank, which is on this node.
  std::byte* at(int rank, Index offset) const noexcept;
  // Whether a rank of the communicator is on this node.
  bool isOnNode(int rank) const noexcept { return nodeRankOf_[rank] >= 0; }
  int nodeSize() const noexcept { return static_cast<int>(segments_.size()); }
  // Bytes that this rank has taken.
  Index bytesTaken() const;

private:
  // The pages of a caller, and where they are in the segment.
  struct SharedPages {
    const void* memory; // as it was given
    Index bytes, place;
  };
  // What a rank tells the others of its node.
  struct Offer {
    std::array<char, 64> name{}; // of its segment's file
    Index bytes = 0;
    int rank = 0; // of the communicator
  };
  SharedArena() = default;
  static Offer offerOf(MPI_Comm comm, const std::string& name, Index bytes);
  void reserve(MPI_Comm comm, const Node& node, const Offer& mine);
  void map(const std::vector<Offer>& offers);
  void releasePending();
  void checkNotShared(const std::byte* pages, Index bytes) const;
  std::optional<Index> takeCommitted(Index bytes, Index alignment);

  std::vector<SharedSegment> segments_; // by rank of the node
  std::vector<int> nodeRankOf_;         // by rank of the communicator, -1 on other nodes
  int own_ = 0;
  mutable std::mutex mutex_;
  FirstFit places_{0};
  std::list<Pending> pending_;
  std::map<std::byte*, SharedPages> sharedPages_; // by the first page
  bool closed_ = false;
};

} // namespace tenon
