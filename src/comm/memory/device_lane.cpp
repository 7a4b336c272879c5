// SPDX-License-Identifier: BSD-2-Clause
// Lanes between devices (device_lane.hpp): allocation by the sender, opening by the receivers. If
// the sender is destroyed while a receiver can still be reading, its memory moves to a list of the
// process, and is freed when a later lane is created after all receivers have released it.
#include "comm/memory/device_lane.hpp"

#include <fmt/format.h>

#include <iterator>
#include <mutex>

namespace tenon {

namespace {

// Double buffering: a receiver releases a buffer only when the kernels that it has queued are done;
// meanwhile the sender packs the other one.
constexpr int kBuffers = 2;
constexpr Index kNoData = 0;       // The host lane has counters only.
constexpr Index kDeviceLine = 128; // Bytes of a cache line of the device.

Index bufferBytesOf(Index bytes) {
  return roundedUp(bytes, kDeviceLine);
}

// Memory that receivers can still be reading although its sender has been destroyed. It belongs to
// the process, since it can outlive the communicator. Lanes are moved as list nodes, since a
// destructor cannot allocate.
class OrphanedLanes {
public:
  using Lanes = std::list<SendDeviceLane::Memory>;
  void adopt(Lanes& lane) noexcept {
    const std::lock_guard lock(mutex_);
    lanes_.splice(lanes_.end(), lane);
  }
  void freeReleased() {
    Lanes drained; // Destroyed after the lock has been released.
    const std::lock_guard lock(mutex_);
    for (auto lane = lanes_.begin(); lane != lanes_.end();) {
      const auto next = std::next(lane);
      if (lane->isDrained())
        drained.splice(drained.end(), lanes_, lane);
      lane = next;
    }
  }

private:
  std::mutex mutex_;
  Lanes lanes_;
};

// Never destroyed: at exit the devices can be gone.
OrphanedLanes& orphanedLanes() {
  static auto* instance = new OrphanedLanes;
  return *instance;
}

} // namespace

SendDeviceLane::SendDeviceLane(const Communicator& comm, Index bytes, std::size_t receivers,
                               const std::string& owner)
    : arena_(comm.deviceArena().arena), bufferBytes_(bufferBytesOf(bytes)) {
  std::list<SendLane>& turns = memory_.emplace_back().turns;
  while (turns.size() < receivers)
    turns.emplace_back(comm.arena(), kNoData, kBuffers, owner);
  if (!std::ranges::all_of(turns, &SendLane::exists))
    throw Error(TENON_ERR_MEMORY,
                fmt::format("{}: the memory that the ranks of the node share has no room for a "
                            "lane, through which they wait for each other's device memory; see "
                            "-tenon_shared_memory and the size of /dev/shm, or set "
                            "-tenon_conversion_transport to messages",
                            owner));
  // Memory that receivers have released by now can be used again.
  orphanedLanes().freeReleased();
  memory_.front().data =
      Buffer(kBuffers * bufferBytes_, owner + " data for ranks of the node", arena_);
}

SendDeviceLane::~SendDeviceLane() {
  if (!memory_.empty() && !memory().isDrained())
    orphanedLanes().adopt(memory_);
}

DeviceLaneAddress SendDeviceLane::address(std::size_t receiver) const {
  return {.turns = turnsOf(receiver).address(),
          .data = arena_->placeOf(memory().data.data<std::byte>())};
}

ReceiveDeviceLane::ReceiveDeviceLane(const Communicator& comm, int sender,
                                     const DeviceLaneAddress& address, Index bytes)
    : hostArena_(comm.arena()), arena_(comm.deviceArena().arena),
      turns_(*hostArena_, sender, address.turns, kNoData), data_(arena_->at(address.data)),
      bufferBytes_(bufferBytesOf(bytes)) {}

} // namespace tenon
