// SPDX-License-Identifier: BSD-2-Clause
// Device lane: transfers data from one rank to one or several others on its node through memory of
// the sender, which the receivers' kernels read in place. It is device memory if possible
// (device_arena.hpp). There are two buffers, filled alternately: several receivers read the same
// ones. For each receiver a host lane without data (`turns`, a SendLane and a ReceiveLane of
// lane.hpp with two slots) has the counters of filled and released buffers. The host updates them,
// because it knows when kernels have completed:
//
//   sender    waits until all receivers have released the next buffer, launches kernels that fill
//             it; when they have completed, the host posts the buffer to each receiver
//   receiver  waits for the posting, launches kernels that read the buffer; when they have
//             completed, the host releases the buffer
#pragma once

#include "comm/memory/device_arena.hpp"
#include "comm/memory/lane.hpp"

#include <algorithm>
#include <iterator>
#include <list>

namespace tenon {

// Address from which a receiver opens the lane; turns.place is -1 if there is none.
struct DeviceLaneAddress {
  LaneAddress turns;
  DevicePlace data;
};

// The sender's end, on a communicator that has a DeviceArena. Its memory is retained until all
// receivers have released it.
class SendDeviceLane {
public:
  // Throws TENON_ERR_MEMORY if there is no device memory, or shared memory of the node, left.
  SendDeviceLane(const Communicator& comm, Index bytes, std::size_t receivers,
                 const std::string& owner);
  SendDeviceLane(SendDeviceLane&&) noexcept = default;
  SendDeviceLane& operator=(SendDeviceLane&&) = delete;
  // Kernels that fill the data must have ended.
  ~SendDeviceLane();

  // The memory that receivers can still be reading: the counters of each, and the buffers.
  struct Memory {
    std::list<SendLane> turns;
    Buffer data;

    bool isDrained() const noexcept { return std::ranges::all_of(turns, &SendLane::isDrained); }
  };

  Index heldBytes() const noexcept { return memory().data.bytes(); }
  DeviceLaneAddress address(std::size_t receiver) const;
  // True if the next buffer can be filled.
  bool isReleased() const noexcept {
    return std::ranges::all_of(memory().turns, &SendLane::hasFreeSlot);
  }
  // True if this receiver does not read that buffer any more.
  bool isReleasedBy(std::size_t receiver) const { return turnsOf(receiver).hasFreeSlot(); }
  // All counters have the same number of postings, and so the same next buffer.
  std::byte* data() noexcept {
    return memory_.front().data.data<std::byte>() +
           memory().turns.front().nextSlot() * bufferBytes_;
  }
  // Announces to all receivers that the next buffer is filled.
  void post() noexcept { std::ranges::for_each(memory_.front().turns, &SendLane::postPacked); }

private:
  const Memory& memory() const noexcept { return memory_.front(); }
  const SendLane& turnsOf(std::size_t receiver) const {
    return *std::next(memory().turns.begin(), static_cast<std::ptrdiff_t>(receiver));
  }

  std::shared_ptr<DeviceArena> arena_;
  Index bufferBytes_; // Bytes from one buffer to the next.
  // One element, or none after a move. The destructor passes the list node to the arena without
  // allocating memory, if the receivers have not released the buffers yet.
  std::list<Memory> memory_;
};

// The receiver's end.
class ReceiveDeviceLane {
public:
  ReceiveDeviceLane(const Communicator& comm, int sender, const DeviceLaneAddress& address,
                    Index bytes);

  bool hasPosting() const noexcept { return turns_.hasPosting(); }
  // The data of the next posting, which must have arrived.
  const std::byte* data() const noexcept { return data_ + turns_.nextSlot() * bufferBytes_; }
  void release() noexcept { turns_.release(); }

private:
  std::shared_ptr<SharedArena> hostArena_;
  std::shared_ptr<DeviceArena> arena_;
  ReceiveLane turns_;
  const std::byte* data_;
  Index bufferBytes_;
};

} // namespace tenon
