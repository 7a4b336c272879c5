// SPDX-License-Identifier: BSD-2-Clause
// NodeCarrier, the base class of carriers that use memory shared by the ranks of a node. A part is
// the data that one rank sends another in a conversion (part.hpp). A part between two ranks of a
// node uses a lane, a buffer in shared memory that one rank writes and the other reads; each pair
// of sender and receiver has one lane per direction of the schedule, which several receivers of the
// same elements can have together. Parts for other nodes are messages.
//
// Set-up of a lane:
//   sender, constructor        allocates the lane, without communication
//   sender, first begin()      sends the receiver one message, the announcement: the address of the
//                              lane, or that there is none
//   receiver, first receive()  reads the announcement, and opens the lane or expects messages
//     or end()
//
// A sender that has no memory for a lane sends messages instead. The receiver learns this only from
// the announcement, so it cannot post the matching receives before its first receive().
#pragma once

#include "comm/memory/lane.hpp"
#include "linop/carriers/message_carrier.hpp"
#include "sys/log/log.hpp"

#include <algorithm>
#include <optional>

namespace tenon {

// Receives messages from ranks of the node that had no memory for a lane. The first action has
// already begun when this rank reads in the announcements which ranks these are.
class LateMessages {
public:
  // Receives these unpack parts as messages from now on, including the action that has begun. No
  // effect if `parts` is empty.
  void open(const CarrierSetup& setup, const std::vector<std::size_t>& parts, const Action& action,
            Wire::Reach reach) {
    if (parts.empty())
      return;
    messages_.emplace(setup, std::vector<std::size_t>{}, parts);
    const KernelContextPtr context = contextOf(setup.comm, action.x->space());
    sends_.emplace(0, setup.owner, context, reach);
    receives_.emplace(messages_->receiveBytes(), setup.owner + " messages of ranks without a lane",
                      context, reach);
    messages_->useWires(*sends_, *receives_);
    messages_->begin(action);
  }
  void begin(const Action& action) {
    if (messages_)
      messages_->begin(action);
  }
  void receive(const Action& action, std::size_t part, Interval chunks, const Meeting& meeting) {
    messages_->receive(action, part, chunks, meeting);
  }
  void receiveAll(const Action& action, const Meeting& meeting) {
    if (messages_)
      messages_->receiveAll(action, meeting);
  }
  void end(const Action& action) {
    if (messages_)
      messages_->end(action);
  }
  Index heldBytes() const noexcept { return receives_ ? receives_->heldBytes() : 0; }

private:
  std::optional<Wire> sends_, receives_; // Nothing is sent by this rank.
  std::optional<MessageCarrier> messages_;
};

// The template argument Lane (HostLane or DeviceLane) has the types
//   Address   the content of an announcement, from which a receiver opens the lane
//   Outgoing  the sender's end, with its parts, heldBytes(), and for the receiver of parts[n]:
//             address(n), and isAwaited(n), true while the action in flight needs the receiver
//   Incoming  the receiver's end, with its part
// the constant
//   kHasSeveralReceivers                    whether parts of the same elements share a lane; if
//                                           not, each lane has one part
// and the static functions
//   make(setup, parts, allBytes, whyNot)    allocates the sender's end for parts; allBytes is the
//                                           size of all parts of this rank. Returns none without
//                                           memory, with the reason in whyNot if views of the
//                                           operator should print it
//   isMade(address)                         true if the announced address is that of a lane
//   open(comm, number, part, address)       the receiver's end for the part of this number
template <class Lane>
class NodeCarrier : public Carrier {
public:
  void begin(const Action& action) final {
    announcements_.send();
    if (hasMessages())
      messages_.begin(action);
    late_.begin(action);
    for (const Outgoing& out : outgoing_)
      for (std::size_t part : out.parts)
        logMessage(direction_.packs[part].bytes);
    beginLanes(action);
    comm_->advance();
  }
  void receive(const Action& action, std::size_t part, Interval chunks,
               const Meeting& meeting) final {
    open(action);
    if (laneOf_[part] >= 0)
      receiveByLane(incoming_[laneOf_[part]], action, chunks, meeting);
    else if (messages_.receives(part))
      messages_.receive(action, part, chunks, meeting);
    else
      late_.receive(action, part, chunks, meeting);
  }
  void receiveAll(const Action& action, const Meeting& meeting) final {
    open(action);
    for (Incoming& in : incoming_)
      receiveByLane(in, action, partOf(in).chunks.all(), meeting);
    late_.receiveAll(action, meeting);
    messages_.receiveAll(action, meeting);
  }
  void end(const Action& action) final {
    open(action); // A rank that receives nothing has not opened its lanes yet.
    endLanes(action);
    late_.end(action);
    if (hasMessages())
      messages_.end(action);
  }
  void abandon() noexcept override { messages_.abandon(); }

  void bind(DTensor& x, DTensor& y) final { messages_.bind(x, y); }
  void unbind() final { messages_.unbind(); }
  Index sendBytes() const final { return messages_.sendBytes(); }
  Index receiveBytes() const final { return messages_.receiveBytes(); }
  void useWires(Wire& send, Wire& receive) final {
    reach_ = receive.isStaged() ? Wire::Reach::Host : Wire::Reach::Device;
    messages_.useWires(send, receive);
  }
  Index ownBytes() const final {
    Index bytes = late_.heldBytes();
    for (const Outgoing& out : outgoing_)
      bytes += out.heldBytes();
    return bytes;
  }

protected:
  using Outgoing = typename Lane::Outgoing;
  using Incoming = typename Lane::Incoming;

  explicit NodeCarrier(const CarrierSetup& setup)
      : comm_(setup.comm), tag_(setup.tag), direction_(setup.direction), owner_(setup.owner),
        announcements_(comm_, tag_), outgoing_(makeLanes(setup)),
        laneOf_(direction_.unpacks.size(), -1),
        messages_(setup, sendsByMessage(), direction_.others(direction_.unpacks, [this](int peer) {
          return !isOnNode(peer);
        })) {}

  // begin(), receive() and end() of an action for the parts that use lanes.
  virtual void beginLanes(const Action& action) = 0;
  virtual void receiveByLane(Incoming& in, const Action& action, Interval chunks,
                             const Meeting& meeting) = 0;
  virtual void endLanes(const Action& action) = 0;

  // The part whose elements are packed into the lane; other parts of the lane have the same ones.
  const Part& partOf(const Outgoing& out) const { return direction_.packs[out.parts.front()]; }
  const Part& partOf(const Incoming& in) const { return direction_.unpacks[in.part]; }
  bool hasMessages() const { return messages_.sendBytes() + messages_.receiveBytes() > 0; }

  // The ranks that have not read this rank's lanes yet, for the warning of a long wait.
  std::string missingReaders() const {
    std::vector<int> peers;
    for (const Outgoing& out : outgoing_)
      for (std::size_t n = 0; n < out.parts.size(); ++n)
        if (out.isAwaited(n))
          peers.push_back(direction_.packs[out.parts[n]].peer);
    return ranksText(peers);
  }

  CommPtr comm_;
  int tag_;
  const Direction& direction_;
  std::string owner_, whyNoLane_;
  Announcements<typename Lane::Address> announcements_;
  std::vector<Outgoing> outgoing_;
  std::vector<Incoming> incoming_;
  // By unpack part: its index in incoming_, or -1 if it is a message.
  std::vector<int> laneOf_;
  MessageCarrier messages_;

private:
  // The arena is NULL only on a communicator of one rank, which has no peers.
  bool isOnNode(int peer) const { return comm_->arena()->isOnNode(peer); }
  std::vector<std::size_t> onNode(const std::vector<Part>& parts) const {
    return direction_.others(parts, [this](int peer) { return isOnNode(peer); });
  }

  // The parts for ranks of the node, by the lanes that carry them.
  std::vector<std::vector<std::size_t>> partsOfLanes() const {
    const std::vector<Part>& parts = direction_.packs;
    std::vector<std::vector<std::size_t>> lanes;
    for (std::size_t i : onNode(parts)) {
      const auto same = std::ranges::find_if(lanes, [&](const std::vector<std::size_t>& lane) {
        return Lane::kHasSeveralReceivers && parts[lane.front()].from == parts[i].from;
      });
      if (same != lanes.end())
        same->push_back(i);
      else
        lanes.push_back({i});
    }
    return lanes;
  }

  // Every rank of the node that gets a part also gets an announcement, an empty one without a lane.
  std::vector<Outgoing> makeLanes(const CarrierSetup& setup) {
    const std::vector<Part>& parts = direction_.packs;
    Index bytes = 0;
    for (std::size_t i : onNode(parts))
      bytes += parts[i].bytes;
    std::vector<Outgoing> outgoing;
    for (const std::vector<std::size_t>& lane : partsOfLanes()) {
      std::optional<Outgoing> out = Lane::make(setup, lane, bytes, whyNoLane_);
      for (std::size_t n = 0; n < lane.size(); ++n)
        announcements_.add(parts[lane[n]].peer, out ? out->address(n) : typename Lane::Address{});
      if (out)
        outgoing.push_back(std::move(*out));
    }
    return outgoing;
  }

  // The parts for other ranks that have no lane: those for other nodes, and those for which there
  // was no memory.
  std::vector<std::size_t> sendsByMessage() const {
    std::vector<std::size_t> sends = direction_.others(direction_.packs, [](int) { return true; });
    std::erase_if(sends, [&](std::size_t part) {
      return std::any_of(outgoing_.begin(), outgoing_.end(), [&](const Outgoing& out) {
        return std::ranges::count(out.parts, part) > 0;
      });
    });
    return sends;
  }

  // Opens the lanes in the first action. Every sender has sent its announcements in its begin(), so
  // waiting for them cannot deadlock.
  void open(const Action& action) {
    if (isOpen_)
      return;
    isOpen_ = true;
    std::vector<std::size_t> partsWithoutLane;
    for (std::size_t i : onNode(direction_.unpacks)) {
      const Part& part = direction_.unpacks[i];
      const auto address = announcements_.receive(part.peer);
      if (!Lane::isMade(address)) {
        partsWithoutLane.push_back(i);
        continue;
      }
      laneOf_[i] = static_cast<int>(incoming_.size());
      incoming_.push_back(Lane::open(*comm_, i, part, address));
    }
    late_.open({comm_, tag_, direction_, {}, owner_}, partsWithoutLane, action, reach_);
    announcements_.waitUntilRead();
  }

  LateMessages late_;
  // The memory that MPI can read and write for arrays of this space.
  Wire::Reach reach_ = Wire::Reach::Host;
  bool isOpen_ = false;
};

} // namespace tenon
