// SPDX-License-Identifier: BSD-2-Clause
// Memory that the ranks of a communicator on one node see alike: each has a segment, takes its
// arrays from it, and reads those of the others where they lie.
//
// What is taken is committed at once, so a full /dev/shm is found out here. Buffers and lanes hold
// the arena alive beyond its communicator.
#pragma once

#include "comm/mpi.hpp"
#include "comm/shared_segment.hpp"
#include "sys/first_fit.hpp"
#include "sys/memory.hpp"

#include <atomic>
#include <mutex>
#include <vector>

namespace tenon {

class SharedArena final : public MemorySource {
public:
  // Collective over comm. `bytes` is what this rank may take, -1 its share of /dev/shm. On a node
  // where it cannot be made on every rank none has one, and `reason` says why.
  struct Made {
    std::shared_ptr<SharedArena> arena;
    std::string reason;
  };
  static Made make(MPI_Comm comm, Index bytes);

  void* take(Index bytes) override;
  void giveBack(void* memory) noexcept override;
  // Keeps a buffer until the counter in it, which another rank raises, has reached the value.
  void keepUntil(Buffer buffer, const std::atomic<std::uint64_t>& counter, std::uint64_t value);
  // Waits for nobody any more; nothing can be taken from now on.
  void close();

  // Whether memory lies in this rank's segment, and where there.
  bool contains(const void* memory) const noexcept;
  Index offsetOf(const void* memory) const noexcept;
  // The place in another rank's segment; the rank is one of the node.
  std::byte* at(int rank, Index offset) const noexcept;
  // Of the ranks of the communicator.
  bool isOnNode(int rank) const noexcept { return nodeRankOf_[rank] >= 0; }
  int nodeSize() const noexcept { return static_cast<int>(segments_.size()); }
  // Bytes that this rank has taken.
  Index bytesTaken() const;

private:
  struct Pending {
    Buffer buffer;
    const std::atomic<std::uint64_t>* counter;
    std::uint64_t value;
  };
  SharedArena() = default;
  void map(MPI_Comm node, Index bytes, const std::string& name);
  void findRanks(MPI_Comm comm, MPI_Comm node);
  void releasePending();

  std::vector<SharedSegment> segments_; // by rank of the node
  std::vector<int> nodeRankOf_;         // by rank of the communicator, -1 on other nodes
  int own_ = 0;
  mutable std::mutex mutex_;
  FirstFit places_{0};
  std::vector<Pending> pending_;
  bool closed_ = false;
};

} // namespace tenon
