// SPDX-License-Identifier: BSD-2-Clause
// Parts through the memory of the node, by lanes (comm/memory/lane.hpp); those for other nodes are messages.
// Small parts, and those of arrays outside the arena, are packed chunk by chunk; large ones of arrays
// inside it are read in place. Whoever waits for a posting keeps filling his own lanes meanwhile, so
// that all ranks advance.
//
// Lanes are made by the sender at set-up, without communication, and announced to their receivers at
// the first use, by one message each. A sender that found no memory for a lane says so, and sends
// messages.
#pragma once

#include "comm/memory/lane.hpp"
#include "linop/exchange/message_carrier.hpp"

namespace tenon {

class LaneCarrier final : public Carrier {
public:
  explicit LaneCarrier(const CarrierSetup& setup);

  void begin(const Action& action) override;
  void receive(const Action& action, std::size_t part, Interval chunks,
               const Meeting& meeting) override;
  void end(const Action& action) override;
  void bind(DTensor& x, DTensor& y) override { messages_.bind(x, y); }
  void unbind() override { messages_.unbind(); }
  Index sendBytes() const override { return messages_.sendBytes(); }
  Index receiveBytes() const override { return messages_.receiveBytes(); }
  void useWires(Wire& send, Wire& receive) override { messages_.useWires(send, receive); }
  Index ownBytes() const override;
  std::string describe() const override;

private:
  // posts: of the action in flight, one if the receiver reads the array in place.
  struct Outgoing {
    std::size_t part;
    StoreChoice stores;
    std::unique_ptr<SendLane> lane;
    Index posts = 0, posted = 0;
    bool readInPlace = false;
  };
  struct Incoming {
    std::size_t part;
    ReceiveLane lane;
    ArrayPlace place{};
  };

  auto onNode() const {
    return [this](int peer) { return arena_->isOnNode(peer); };
  }
  Index bytesOf(const Part& part) const noexcept { return part.cells * cellBytes_; }
  const Part& partOf(const Outgoing& out) const { return direction_.packs[out.part]; }

  std::vector<Outgoing> makeLanes(StoreWay stores);
  std::vector<std::size_t> sendsByMessage() const;
  void open(const Action& action);

  void receive(Incoming& in, const Action& action, Interval chunks, const Meeting& meeting);
  void pump(const DTensor& x, Index mostOfEach);
  void post(Outgoing& out, const DTensor& x);
  void awaitPosting(const Incoming& in, const DTensor& x);
  std::string missingSenders(const Incoming& from) const;
  std::string missingReaders() const;

  CommPtr comm_;
  std::shared_ptr<SharedArena> arena_; // NULL only if the rank is alone
  int tag_;
  const Direction& direction_;
  Index cellBytes_, packLimit_;
  std::string owner_;
  Index largest_ = 0; // bytes of the parts for the node's ranks, at most
  Announcements<LaneAddress> announcements_;
  std::vector<Outgoing> outgoing_;
  std::vector<Incoming> incoming_;
  std::vector<int> laneOf_; // of an unpack part, -1 if it comes as a message
  MessageCarrier messages_;
  LateMessages late_;
  bool opened_ = false;
  bool morePosts_ = false; // of the action in flight
  Index place_ = -1;       // in the arena, of its x; -1 outside, or if all is packed
};

} // namespace tenon
