// SPDX-License-Identifier: BSD-2-Clause
// The way from one rank to another on its node through memory of the sender, of its device if
// possible (device_arena.hpp), which the receiver's kernels read in place. A lane of the host
// (lane.hpp) that carries no data says whose turn it is:
//
//   sender's kernels fill the data; when they are done the host posts
//   the receiver waits for the posting; its kernels read; when they are done its host releases
//   the sender waits for the release before it lets kernels fill the same data again
//
// There are two pieces of data, filled by turns.
#pragma once

#include "comm/memory/device_arena.hpp"
#include "comm/memory/lane.hpp"

#include <list>

namespace tenon {

// The address by which a receiver opens the lane; turns.place is -1 if there is none.
struct DeviceLaneAddress {
  LaneAddress turns;
  DevicePlace data;
};

// The sender's end, of a communicator that has a DeviceArena. Its memory is kept until the receiver
// has released it.
class SendDeviceLane {
public:
  // Throws TENON_ERR_MEMORY if the device, or the node's shared memory, has none left.
  SendDeviceLane(const Communicator& comm, Index bytes, const std::string& owner);
  SendDeviceLane(SendDeviceLane&&) noexcept = default;
  SendDeviceLane& operator=(SendDeviceLane&&) = delete;
  // The kernels that fill the data have to be done.
  ~SendDeviceLane();

  // The memory that a receiver may still read.
  struct Memory {
    Memory(const Communicator& comm, int count, const std::string& owner);
    SendLane turns;
    Buffer data;
  };

  Index heldBytes() const noexcept { return memory().data.bytes(); }
  DeviceLaneAddress address() const;
  // Whether the next piece of data can be filled.
  bool isReleased() const noexcept { return memory().turns.hasFreeSlot(); }
  std::byte* data() noexcept {
    return memory_.front().data.data<std::byte>() + memory().turns.nextSlot() * distance_;
  }
  // Says that the next piece of data is filled.
  void post() noexcept { memory_.front().turns.postPacked(); }

private:
  const Memory& memory() const noexcept { return memory_.front(); }

  std::shared_ptr<DeviceArena> arena_;
  Index distance_; // from one piece of data to the next
  // One memory, or none after a move: a node of a list, which the destructor can hand on without
  // allocating.
  std::list<Memory> memory_;
};

// The receiver's end.
class ReceiveDeviceLane {
public:
  ReceiveDeviceLane(const Communicator& comm, int sender, const DeviceLaneAddress& address,
                    Index bytes);

  bool hasPosting() const noexcept { return turns_.hasPosting(); }
  // The data of the next posting, which must be there.
  const std::byte* data() const noexcept { return data_ + turns_.nextSlot() * distance_; }
  void release() noexcept { turns_.release(); }

private:
  std::shared_ptr<SharedArena> hostArena_;
  std::shared_ptr<DeviceArena> arena_;
  ReceiveLane turns_;
  const std::byte* data_;
  Index distance_;
};

} // namespace tenon
