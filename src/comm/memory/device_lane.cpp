// SPDX-License-Identifier: BSD-2-Clause
// Lanes between devices. The counters of a lane of the host carry the turns, since the host knows
// when kernels are done, and memory that a receiver may still read is handed to the process, as
// nobody can say when the other rank will be done with it.
#include "comm/memory/device_lane.hpp"

#include <fmt/format.h>

#include <iterator>
#include <mutex>

namespace tenon {

namespace {

// Two pieces: one is read while the next is packed. Readers are done with a piece only after the
// kernels that they had queued before, and the packing of the next piece does not wait for these.
constexpr int kTurns = 2;
constexpr Index kNoData = 0;       // the lane of the host carries turns alone
constexpr Index kDeviceLine = 128; // a line of the device's caches

Index distanceOf(Index bytes) {
  return roundedUp(bytes, kDeviceLine);
}

// The memory that receivers may still read although its sender is gone. It belongs to the process,
// as it can outlive the communicator. Lanes come as nodes of a list, since a destructor cannot
// allocate.
class Unread {
public:
  using Lanes = std::list<SendDeviceLane::Memory>;
  void keep(Lanes& lane) noexcept {
    const std::lock_guard lock(mutex_);
    kept_.splice(kept_.end(), lane);
  }
  void drop() {
    Lanes drained; // destroyed after the lock
    const std::lock_guard lock(mutex_);
    for (auto one = kept_.begin(); one != kept_.end();) {
      const auto next = std::next(one);
      if (one->turns.isDrained())
        drained.splice(drained.end(), kept_, one);
      one = next;
    }
  }

private:
  std::mutex mutex_;
  Lanes kept_;
};

Unread& unread() {
  static auto* all = new Unread;
  return *all;
}

} // namespace

SendDeviceLane::Memory::Memory(const Communicator& comm, int count, const std::string& owner)
    : turns(comm.arena(), kNoData, count, owner) {}

SendDeviceLane::SendDeviceLane(const Communicator& comm, Index bytes, const std::string& owner)
    : arena_(comm.deviceArena().arena), distance_(distanceOf(bytes)) {
  memory_.emplace_back(comm, kTurns, owner);
  if (!memory().turns.exists())
    throw Error(TENON_ERR_MEMORY,
                fmt::format("{}: the memory that the ranks of the node share has no room for a "
                            "lane, through which they wait for each other's device memory; see "
                            "-tenon_shared_memory and the size of /dev/shm, or set "
                            "-tenon_conversion_transport to messages",
                            owner));
  // Memory that has been read by now can serve again.
  unread().drop();
  memory_.front().data = Buffer(kTurns * distance_, owner + " data for a rank of the node", arena_);
}

SendDeviceLane::~SendDeviceLane() {
  if (!memory_.empty() && !memory().turns.isDrained())
    unread().keep(memory_);
}

DeviceLaneAddress SendDeviceLane::address() const {
  return {.turns = memory().turns.address(),
          .data = arena_->placeOf(memory().data.data<std::byte>())};
}

ReceiveDeviceLane::ReceiveDeviceLane(const Communicator& comm, int sender,
                                     const DeviceLaneAddress& address, Index bytes)
    : hostArena_(comm.arena()), arena_(comm.deviceArena().arena),
      turns_(*hostArena_, sender, address.turns, kNoData), data_(arena_->at(address.data)),
      distance_(distanceOf(bytes)) {}

} // namespace tenon
