// SPDX-License-Identifier: BSD-2-Clause
// Parts of arrays on the device through memory that the devices of the node's ranks read in each
// other's (comm/memory/device_lane.hpp).
//
// Nothing waits in begin(): whoever waits on the communicator packs what the receiver has released,
// posts what is packed, and releases what has been read here; the action's end does the first two
// at the latest, and the release of an action may come as late as the next one.
#pragma once

#include "comm/memory/device_lane.hpp"
#include "linop/exchange/node_carrier.hpp"

namespace tenon {

// A lane of device memory.
struct DeviceLane {
  using Address = DeviceLaneAddress;
  struct Outgoing {
    std::size_t part;
    SendDeviceLane lane;
    Event packed = {};

    Address address() const { return lane.address(); }
    Index heldBytes() const noexcept { return lane.heldBytes(); }
    bool isAwaited() const noexcept { return !lane.isReleased(); }
  };
  struct Incoming {
    std::size_t part;
    ReceiveDeviceLane lane;
    const std::byte* next = nullptr; // the elements that are not combined yet
    bool isQueued = false;           // they wait in the queue of the action
    bool isRead = false;             // the kernels that read it have been called
    Event read = {};
  };

  // Throws TENON_ERR_MEMORY in place of sending messages if the transport is shared.
  static std::optional<Outgoing> make(const CarrierSetup& setup, std::size_t part, Index allBytes,
                                      std::string& whyNot);
  static bool isMade(const Address& address) noexcept { return address.turns.place >= 0; }
  static Incoming open(const Communicator& comm, std::size_t part, int peer, const Address& address,
                       Index bytes) {
    return {part, ReceiveDeviceLane(comm, peer, address, bytes)};
  }
};

class PeerCarrier final : public NodeCarrier<DeviceLane>, private Pending {
public:
  // The communicator must have a DeviceArena.
  explicit PeerCarrier(const CarrierSetup& setup);
  // Waits for the kernels of this rank.
  ~PeerCarrier() override;
  PeerCarrier(const PeerCarrier&) = delete;
  PeerCarrier& operator=(const PeerCarrier&) = delete;

  void abandon() noexcept override;
  std::string describe() const override;

private:
  void beginLanes(const Action& action) override;
  void receiveByLane(Incoming& in, const Action& action, Interval chunks,
                     const Meeting& meeting) override;
  void endLanes(const Action& action) override;

  void advance() override;
  void packReleased();
  void post();
  void release(Incoming& in);
  void awaitPosting(Incoming& in);
  void endReading();
  void settle() noexcept;

  KernelContextPtr context_;
  std::string memory_; // of the lanes, for a view
  // How far the action in flight has come.
  const DTensor* x_ = nullptr;
  std::size_t packed_ = 0, posted_ = 0; // of outgoing_
};

} // namespace tenon
