// SPDX-License-Identifier: BSD-2-Clause
// Lane: transfers data from one rank to another on its node through a ring of slots in shared
// memory (the sender's segment of a SharedArena). The sender fills slots in order, the receiver
// frees them in order. Filling a slot is called a posting; postings are numbered from 1.
//
// Protocol, with memory orders:
//   sender    waits until the slot's previous posting is released       (acquire)
//             writes the slot, then the number of the posting into it   (release)
//   receiver  waits for the number of the next posting                  (acquire)
//             reads, then increments the count of released postings     (release)
//
// A rank that waits for the other end while its core is wanted sets a word of the lane and sleeps,
// and the other end wakes it after its next posting or release. Each stores before it looks, in one
// order of all ranks (sequential consistency), so one of them sees what the other has stored:
//   sleeper    sets the word, tests the counter once more, and sleeps until it changes (futex)
//   other end  stores the counter of a posting or release, and, if the word is set, wakes the
//              sleeper; it writes nothing else, since the lane can be freed after its last release
// The other end looks at the word only if there are more ranks than cores, or if its own core is
// wanted; without a wake-up the sleeper tests again when its nap is over.
//
// Memory of a lane: [head: count of released postings, words of sleepers | slot 0 | slot 1 | ...],
// where a slot is its head (number, kind of content, time of reading) and its data. A posting
// contains packed data, or the address of an array of the sender, which the receiver reads in place
// before it releases the posting. In a small slot, head and data share a cache line. In the head of
// a large slot the receiver stores the time that it needed to read the data. From this time the
// sender chooses between store instructions that leave the data in its cache and those that bypass
// the cache (StoreWay in linop/exchange/region_run.hpp).
#pragma once

#include "comm/agreement/wait_policy.hpp"
#include "comm/communicator.hpp"
#include "geometry/layout/box.hpp"

#include <array>
#include <list>
#include <type_traits>
#include <vector>

namespace tenon {

// The content of a slot: packed data (array = kPacked), or an array with these strides, whose first
// element is at the offset `array` in the sender's segment.
inline constexpr Index kPacked = -1;
struct ArrayPlace {
  Index array = kPacked;
  std::array<Index, kMaxDims> strides{};
};

// A part is the data of one rank for another. Parts of this size in bytes and above are packed as
// configured by -tenon_conversion_stores; in a lane they are divided into several slots, for which
// the times of storing and reading are measured.
inline constexpr Index kLargePart = Index(16) << 10;

// The sizes of a lane's slots.
struct LaneShape {
  static constexpr int kMinSlots = 8;

  // The shape for parts of that many bytes: a slot has the size of a part of up to 16 KiB, or an
  // eighth of a larger part, between 16 and 128 KiB. For example, a part of 1 KiB is sent in one
  // slot, and one of 1 MiB in 8 slots of 128 KiB.
  explicit LaneShape(Index partBytes);
  // Number of slots for a part; packedBytes is the size of all parts that a rank packs. If a part
  // is larger than a slot, the rings of a rank together have 1 to 2 MiB, about the size of a core's
  // private caches: a slot that is written again has then left the receiver's cache, and writing a
  // cache line that is in another core's cache is slow.
  int slotsOf(Index partBytes, Index packedBytes) const noexcept;
  // Size of a lane with that many slots.
  Index laneBytes(Index slots) const noexcept { return kLine + slots * slotBytes; }

  // True if the times of reading are measured, for which a slot's head needs its own cache line.
  bool isTimed() const noexcept { return headBytes == kLine; }

  static constexpr Index kLine = 64; // Bytes of a cache line.
  // Bytes of one slot: of its head, of its data, and of both, rounded up to whole cache lines.
  Index headBytes, dataBytes, slotBytes;
};

// Size of the lane for a part, on a rank that packs `packedBytes` for all lanes.
inline Index laneBytes(Index partBytes, Index packedBytes) {
  const LaneShape shape(partBytes);
  return shape.laneBytes(shape.slotsOf(partBytes, packedBytes));
}

// Address from which a receiver opens a lane: its offset in the sender's segment (place, -1 if
// there is no lane), and its number of slots.
struct LaneAddress {
  Index place = -1, slots = 0;
};

// The sender's end. Its memory remains allocated in the arena until the receiver has read all
// postings.
class SendLane {
public:
  // exists() is false if the arena has no memory left.
  SendLane(std::shared_ptr<SharedArena> arena, Index partBytes, int slots,
           const std::string& owner);
  SendLane(const SendLane&) = delete;
  SendLane& operator=(const SendLane&) = delete;
  ~SendLane();

  bool exists() const noexcept { return memory_.bytes() > 0; }
  Index bytes() const noexcept { return memory_.bytes(); }
  LaneAddress address() const noexcept;

  bool hasFreeSlot() const noexcept;
  // The next slot, which must be free. The caller fills slotData(), then calls postPacked().
  int nextSlot() const noexcept { return static_cast<int>(static_cast<Index>(posted_) % slots_); }
  std::byte* slotData() const noexcept;
  // Time that the receiver needed to read the slot's previous content, or 0 if it had none or the
  // slot is small.
  double readSeconds() const noexcept;
  void postPacked() noexcept { post(kPacked); }
  // Posts an array whose first element is at that offset of the sender's segment.
  void postArray(Index place, const std::array<Index, kMaxDims>& strides) noexcept;
  // True if all postings have been released.
  bool isDrained() const noexcept;
  // Sleeps until the receiver releases a posting, or for that time in ns; not if all are released.
  void sleepUntilRelease(long nanoseconds) const noexcept;

private:
  std::byte* lane() const noexcept;
  void post(Index array) noexcept;

  std::shared_ptr<SharedArena> arena_;
  LaneShape shape_;
  Index slots_;
  Buffer memory_;
  bool alwaysWakes_; // There are more ranks than cores.
  std::uint64_t posted_ = 0;
  // List node in which the destructor hands the memory to the arena.
  std::list<SharedArena::Pending> pendingNode_;
};

// The receiver's end. `sender` is the sender's rank in the communicator of the arena.
class ReceiveLane {
public:
  ReceiveLane(const SharedArena& arena, int sender, const LaneAddress& address, Index partBytes);

  bool hasPosting() const noexcept;
  // Sleeps until the next posting, or for that time in ns.
  void sleepUntilPosting(long nanoseconds) const noexcept;
  // The slot of the next posting, which must have arrived.
  int nextSlot() const noexcept { return static_cast<int>(static_cast<Index>(released_) % slots_); }
  ArrayPlace place() const noexcept;
  const std::byte* slotData() const noexcept;
  // True if the sender needs the time of reading.
  bool isTimed() const noexcept { return shape_.isTimed(); }
  void release(double readSeconds = 0) noexcept;

private:
  std::byte* memory_;
  LaneShape shape_;
  Index slots_;
  bool alwaysWakes_; // There are more ranks than cores.
  std::uint64_t released_ = 0;
};

// Messages by which a rank tells each receiver once where it can read data, for example the address
// of a lane. Calls: add() for each receiver, then send(); each receiver calls receive(); finally
// waitUntilRead().
template <class Address>
class Announcements {
  static_assert(std::is_trivially_copyable_v<Address>);

public:
  Announcements(CommPtr comm, int tag) : comm_(std::move(comm)), tag_(tag) {}

  // Adds an announcement; call before send().
  void add(int peer, const Address& address) { announcements_.push_back({peer, address}); }
  // Sends the announcements that have not been sent.
  void send() {
    for (; sent_ < announcements_.size(); ++sent_) {
      Announcement& next = announcements_[sent_];
      checkMpi(MPI_Isend(&next.address, sizeof next.address, MPI_BYTE, next.peer, tag_,
                         comm_->mpi(), &next.request),
               "MPI_Isend");
    }
  }
  void waitUntilRead() {
    for (Announcement& announcement : announcements_)
      waitFor(*comm_, &announcement.request, 1, [&] { return ranksText({announcement.peer}); });
  }
  // Receives the announcement of another rank.
  Address receive(int peer) const {
    Address address;
    MPI_Request request = MPI_REQUEST_NULL;
    checkMpi(MPI_Irecv(&address, sizeof address, MPI_BYTE, peer, tag_, comm_->mpi(), &request),
             "MPI_Irecv");
    waitFor(*comm_, &request, 1, [&] { return ranksText({peer}); });
    return address;
  }

private:
  struct Announcement {
    int peer;
    Address address{};
    MPI_Request request = MPI_REQUEST_NULL;
  };

  CommPtr comm_;
  int tag_;
  std::vector<Announcement> announcements_;
  std::size_t sent_ = 0;
};

} // namespace tenon
