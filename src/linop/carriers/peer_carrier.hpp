// SPDX-License-Identifier: BSD-2-Clause
// PeerCarrier: sends the parts of a conversion (a part is the data of one rank for another,
// part.hpp) between device arrays of the ranks of a node. Each part has a lane: memory that the
// sender's kernels fill and the receiver's kernels read (comm/memory/device_lane.hpp). Parts of the
// same elements, as all ranks receive them in a gather, are packed once, into one lane. One turn of
// a lane:
//
//   sender    waits until all receivers have released the lane, launches packing kernels; when they
//             have completed, posts the lane, which tells the receivers that it is filled
//   receiver  waits for the posting, launches kernels that combine it with the target; when these
//             have completed, releases the lane
//
// No host thread waits for kernels in this protocol: begin() only registers the action, and every
// wait on the communicator calls advance(), which makes the steps that have become possible. end()
// completes packing and posting. The releases of the last lanes can be as late as the next action.
#pragma once

#include "comm/memory/device_lane.hpp"
#include "linop/carriers/node_carrier.hpp"

namespace tenon {

// The two ends of a lane in device memory, with the events of their kernels.
struct DeviceLane {
  using Address = DeviceLaneAddress;
  static constexpr bool kHasSeveralReceivers = true;
  struct Outgoing {
    std::vector<std::size_t> parts; // of the same elements, one for each receiver
    SendDeviceLane lane;
    Event packed = {};

    Address address(std::size_t receiver) const { return lane.address(receiver); }
    Index heldBytes() const noexcept { return lane.heldBytes(); }
    bool isAwaited(std::size_t receiver) const noexcept { return !lane.isReleasedBy(receiver); }
  };
  struct Incoming {
    std::size_t part;
    ReceiveDeviceLane lane;
    const std::byte* next = nullptr; // The elements to be combined next.
    bool isQueued = false;           // True while the combination waits in the queue of the action.
    bool isRead = false; // True if kernels that read the lane are launched; not released.
    Event read = {};     // Completes after these kernels.
  };

  // Throws TENON_ERR_MEMORY if the transport is "shared"; with "auto" the part becomes a message.
  static std::optional<Outgoing> make(const CarrierSetup& setup,
                                      const std::vector<std::size_t>& parts, Index allBytes,
                                      std::string& whyNot);
  static bool isMade(const Address& address) noexcept { return address.turns.place >= 0; }
  static Incoming open(const Communicator& comm, std::size_t number, const Part& part,
                       const Address& address) {
    return {number, ReceiveDeviceLane(comm, part.peer, address, part.bytes)};
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
  std::string memory_; // Description of the lanes' memory, for views.
  // The action in flight, and its progress.
  Action action_;
  std::size_t packed_ = 0, posted_ = 0; // Numbers of outgoing lanes that are packed, and posted.
};

} // namespace tenon
