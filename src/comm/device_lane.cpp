// SPDX-License-Identifier: BSD-2-Clause
#include "comm/device_lane.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

// One is read while the next is packed: readers are done with one only behind the kernels that they have queued
// before, for which the packing of the next does not wait.
constexpr int kTurns = 2;
constexpr Index kNoData = 0;
constexpr Index kLineBytes = 128; // of the device's caches

Index distanceOf(Index bytes) {
  return roundedUp(bytes, kLineBytes);
}

// What receivers may still read though its sender's end has gone: of the process, as it may outlive the communicator.
class Unread {
public:
  void keep(std::unique_ptr<SendLane> turns, Buffer data) {
    const std::lock_guard lock(mutex_);
    kept_.push_back({std::move(turns), std::move(data)});
  }
  void drop() {
    std::vector<Kept> read; // goes after the lock
    const std::lock_guard lock(mutex_);
    for (Kept& one : kept_)
      if (one.turns->isDrained())
        read.push_back(std::move(one));
    std::erase_if(kept_, [](const Kept& one) { return !one.turns; });
  }

private:
  struct Kept {
    std::unique_ptr<SendLane> turns;
    Buffer data;
  };
  std::mutex mutex_;
  std::vector<Kept> kept_;
};

Unread& unread() {
  static auto* all = new Unread;
  return *all;
}

} // namespace

SendDeviceLane::SendDeviceLane(const Communicator& comm, Index bytes, const std::string& owner)
    : arena_(comm.deviceArena().arena), distance_(distanceOf(bytes)),
      turns_(std::make_unique<SendLane>(comm.arena(), kNoData, kTurns, owner)) {
  if (!turns_->exists())
    throw Error(TENON_ERR_MEMORY,
                fmt::format("{}: the memory that the ranks of the node share has no room for a "
                            "lane, through which they wait for each other's device memory; see "
                            "-tenon_shared_memory and the size of /dev/shm, or set "
                            "-tenon_conversion_transport to messages",
                            owner));
  unread().drop();
  data_ = Buffer(kTurns * distance_, owner + " data for a rank of the node", arena_);
}

SendDeviceLane::~SendDeviceLane() {
  if (turns_ && !turns_->isDrained())
    unread().keep(std::move(turns_), std::move(data_));
}

DeviceLaneAddress SendDeviceLane::address() const {
  return {.turns = turns_->address(), .data = arena_->placeOf(data_.data<std::byte>())};
}

ReceiveDeviceLane::ReceiveDeviceLane(const Communicator& comm, int sender,
                                     const DeviceLaneAddress& address, Index bytes)
    : hostArena_(comm.arena()), arena_(comm.deviceArena().arena),
      turns_(*hostArena_, sender, address.turns, kNoData), data_(arena_->at(address.data)),
      distance_(distanceOf(bytes)) {}

} // namespace tenon
