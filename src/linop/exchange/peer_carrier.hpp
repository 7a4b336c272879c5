// SPDX-License-Identifier: BSD-2-Clause
// Parts of arrays on the device through memory that the devices of the node's ranks read in each other's
// (comm/memory/device_lane.hpp); those for other nodes are messages, and so are those that find no room for a lane, of which
// the receiver hears in the first action.
//
// Nothing waits in begin(): whoever waits on the communicator packs what the receiver has released, posts what is
// packed, and releases what has been read here; the action's end does the first two at the latest, and the release of
// an action may come as late as the next one.
#pragma once

#include "comm/memory/device_lane.hpp"
#include "comm/memory/lane.hpp"
#include "linop/exchange/message_carrier.hpp"

namespace tenon {

class PeerCarrier final : public Carrier, private Pending {
public:
  // Of a communicator that has a DeviceArena.
  explicit PeerCarrier(const CarrierSetup& setup);
  // Waits for kernels of this rank.
  ~PeerCarrier() override;
  PeerCarrier(const PeerCarrier&) = delete;
  PeerCarrier& operator=(const PeerCarrier&) = delete;

  void begin(const Action& action) override;
  void receive(const Action& action, std::size_t part, Interval chunks,
               const Meeting& meeting) override;
  void end(const Action& action) override;
  void abandon() noexcept override;
  void bind(DTensor& x, DTensor& y) override { messages_.bind(x, y); }
  void unbind() override { messages_.unbind(); }
  Index sendBytes() const override { return messages_.sendBytes(); }
  Index receiveBytes() const override { return messages_.receiveBytes(); }
  void useWires(Wire& send, Wire& receive) override {
    reach_ = receive.isStaged() ? Wire::Reach::Host : Wire::Reach::Device;
    messages_.useWires(send, receive);
  }
  Index ownBytes() const override;
  std::string describe() const override;

private:
  struct Outgoing {
    std::size_t part;
    SendDeviceLane lane;
    Event packed = {};
  };
  struct Incoming {
    std::size_t part;
    ReceiveDeviceLane lane;
    const std::byte* next = nullptr; // of the cells, not combined yet
    bool isRead = false;             // by kernels that have been called
    Event read = {};
  };

  bool isOnNode(int peer) const { return comm_->arena()->isOnNode(peer); }
  auto onNode() const {
    return [this](int peer) { return isOnNode(peer); };
  }
  Index bytesOf(const Part& part) const noexcept { return part.cells * cellBytes_; }
  bool hasMessages() const { return messages_.sendBytes() + messages_.receiveBytes() > 0; }
  std::vector<Outgoing> makeLanes(Transport asked);
  std::vector<std::size_t> sendsByMessage() const;
  void open(const Action& action);
  void advance() override;
  void pack(Outgoing& out);
  void post();
  void release(Incoming& in);
  void awaitPosting(Incoming& in);
  void settle() noexcept;
  std::string missingReaders() const;

  CommPtr comm_;
  KernelContextPtr context_;
  int tag_;
  const Direction& direction_;
  Index cellBytes_;
  std::string owner_, memory_, whyNoLane_; // memory_: of the lanes, for a view
  Announcements<DeviceLaneAddress> announcements_;
  std::vector<Outgoing> outgoing_;
  std::vector<Incoming> incoming_;
  std::vector<int> laneOf_; // of an unpack part, -1 if it comes as a message
  MessageCarrier messages_;
  LateMessages late_;
  Wire::Reach reach_ = Wire::Reach::Host;
  bool opened_ = false;
  // Of the action in flight.
  const DTensor* x_ = nullptr;
  std::size_t packed_ = 0, posted_ = 0; // of outgoing_
};

} // namespace tenon
