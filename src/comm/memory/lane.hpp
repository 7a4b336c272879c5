// SPDX-License-Identifier: BSD-2-Clause
// The way from one rank to another on its node, within the sender's segment: a ring of slots that
// the sender fills in order and the receiver frees in order.
//
// A slot's number says which posting it holds: the sender writes the slot, then its number
// (release); the receiver waits for the number (acquire), reads, then counts one more as released
// (release); the sender fills a slot again when what was in it is released (acquire). A posting is
// a chunk of packed data, or says where the array of the sender is, which the receiver reads in
// place until it releases. A slot's number, head and small data share a cache line. Of a large slot
// the receiver also tells the sender how long reading took.
#pragma once

#include "comm/agreement/wait_policy.hpp"
#include "comm/communicator.hpp"
#include "geometry/layout/box.hpp"

#include <array>
#include <list>
#include <type_traits>
#include <vector>

namespace tenon {

// What a slot holds: packed data (array = kPacked), or the place in the sender's segment of the
// first element of an array with these strides.
inline constexpr Index kPacked = -1;
struct ArrayPlace {
  Index array = kPacked;
  std::array<Index, kMaxRank> strides{};
};

// Parts from this size on are packed as -tenon_conversion_stores says; those that go by a lane are
// cut into several slots that are timed.
inline constexpr Index kLargePart = Index(16) << 10;

struct LaneShape {
  static constexpr int kMinSlots = 8;

  // The shape for parts of that many bytes: one slot holds a small part, or an eighth of a larger
  // one up to a bound.
  explicit LaneShape(Index partBytes);
  // The number of slots for a part of all bytes that a rank packs. Lines that are in another core's
  // private cache are slow to write again, so the rings together are larger than such a cache where
  // a part is larger than one slot.
  int slotsOf(Index partBytes, Index packedBytes) const noexcept;
  // Of a lane with so many slots.
  Index laneBytes(Index slots) const noexcept { return kLine + slots * slotBytes; }

  // Whether slots are timed: those with a line for their head.
  bool isTimed() const noexcept { return headBytes == kLine; }

  static constexpr Index kLine = 64;
  Index headBytes, dataBytes, slotBytes;
};

// The memory of a lane for a part, of a rank that packs so many bytes for all.
inline Index laneBytes(Index partBytes, Index packedBytes) {
  const LaneShape shape(partBytes);
  return shape.laneBytes(shape.slotsOf(partBytes, packedBytes));
}

// The address by which a receiver opens a lane; place is -1 if there is none.
struct LaneAddress {
  Index place = -1, slots = 0;
};

// The sender's end. Its memory is kept in the arena until the receiver has read all that was
// posted.
class SendLane {
public:
  // There is no lane if the arena has no memory left.
  SendLane(std::shared_ptr<SharedArena> arena, Index partBytes, int slots,
           const std::string& owner);
  SendLane(const SendLane&) = delete;
  SendLane& operator=(const SendLane&) = delete;
  ~SendLane();

  bool exists() const noexcept { return memory_.bytes() > 0; }
  Index bytes() const noexcept { return memory_.bytes(); }
  LaneAddress address() const noexcept;

  bool hasFreeSlot() const noexcept;
  // The next slot, which must be free; it is filled, then posted.
  int nextSlot() const noexcept { return static_cast<int>(static_cast<Index>(posted_) % slots_); }
  std::byte* slotData() const noexcept;
  // How long the receiver took to read what was in the slot before; 0 if it held nothing, or is
  // small.
  double readSeconds() const noexcept;
  void postPacked() noexcept { post(kPacked); }
  // Posts an array whose first element is at that place of the sender's segment.
  void postArray(Index place, const std::array<Index, kMaxRank>& strides) noexcept;
  // Whether all that was posted is released.
  bool isDrained() const noexcept;

private:
  std::byte* lane() const noexcept;
  void post(Index array) noexcept;

  std::shared_ptr<SharedArena> arena_;
  LaneShape shape_;
  Index slots_;
  Buffer memory_;
  std::uint64_t posted_ = 0;
  std::list<SharedArena::Pending> afterwards_; // where the memory waits for the receiver
};

// The receiver's end.
class ReceiveLane {
public:
  ReceiveLane(const SharedArena& arena, int sender, const LaneAddress& address, Index partBytes);

  bool hasPosting() const noexcept;
  // The slot of the next posting, which must be there.
  int nextSlot() const noexcept { return static_cast<int>(static_cast<Index>(released_) % slots_); }
  ArrayPlace place() const noexcept;
  const std::byte* slotData() const noexcept;
  // Whether the sender wants to know how long reading takes.
  bool isTimed() const noexcept { return shape_.isTimed(); }
  void release(double readSeconds = 0) noexcept;

private:
  std::byte* memory_;
  LaneShape shape_;
  Index slots_;
  std::uint64_t released_ = 0;
};

// One message of a few bytes to each of some ranks, which tells them once how to read what will be
// sent to them, such as the address of a lane.
template <class Address>
class Announcements {
  static_assert(std::is_trivially_copyable_v<Address>);

public:
  Announcements(CommPtr comm, int tag) : comm_(std::move(comm)), tag_(tag) {}

  // Adds an announcement, before they are sent.
  void add(int peer, const Address& address) { all_.push_back({peer, address}); }
  // Sends those that have not been sent.
  void send() {
    for (; sent_ < all_.size(); ++sent_) {
      Announcement& next = all_[sent_];
      checkMpi(MPI_Isend(&next.address, sizeof next.address, MPI_BYTE, next.peer, tag_,
                         comm_->mpi(), &next.request),
               "MPI_Isend");
    }
  }
  void waitUntilRead() {
    for (Announcement& sent : all_)
      waitFor(*comm_, &sent.request, 1, [&] { return ranksText({sent.peer}); });
  }
  // Receives the announcement of another rank to this one.
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
  std::vector<Announcement> all_;
  std::size_t sent_ = 0;
};

} // namespace tenon
