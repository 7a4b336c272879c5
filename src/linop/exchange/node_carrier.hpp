// SPDX-License-Identifier: BSD-2-Clause
// The skeleton of the carriers that use a node's memory: parts for ranks of the node go through
// lanes, one for each sender, receiver and direction; those for other nodes are messages.
//
// Lanes are made by the sender at set-up, without communication, and announced to their receivers
// in the first action, by one message each. A sender that found no memory for a lane says so there,
// and sends messages instead: only then does the receiver know how its parts come, which is why the
// first action opens the lanes when it first looks at what has come.
#pragma once

#include "comm/memory/lane.hpp"
#include "linop/exchange/message_carrier.hpp"
#include "sys/log/log.hpp"

#include <algorithm>
#include <optional>

namespace tenon {

// Messages from ranks of the node that found no room for a lane. They are expected from the first
// action on, which has begun by the time its receivers hear of them.
class LateMessages {
public:
  // Expects these parts, in the action that has begun too; does nothing if there are none.
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
  void end(const Action& action) {
    if (messages_)
      messages_->end(action);
  }
  Index heldBytes() const noexcept { return receives_ ? receives_->heldBytes() : 0; }

private:
  std::optional<Wire> sends_, receives_; // nothing is sent
  std::optional<MessageCarrier> messages_;
};

// Lane is a kind of lane, with the types
//   Address   what a receiver opens a lane with
//   Outgoing  the sender's end: its part; address(), heldBytes(); isAwaited() while an action needs
//             the receiver
//   Incoming  the receiver's end: its part
// and the static functions
//   make(setup, part, bytes, whyNot)      the sender's end of a part, of so many bytes for all
//                                         lanes; none if there is no memory, with the reason if a
//                                         view should tell it
//   isMade(address)                       whether the sender has made the lane
//   open(comm, part, peer, address, bytes)
template <class Lane>
class NodeCarrier : public Carrier {
public:
  void begin(const Action& action) final {
    announcements_.send();
    if (hasMessages())
      messages_.begin(action);
    late_.begin(action);
    for (const Outgoing& out : outgoing_)
      logMessage(bytesOf(partOf(out)));
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
  void end(const Action& action) final {
    open(action); // a rank that receives nothing has not looked yet
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
      : comm_(setup.comm), tag_(setup.tag), direction_(setup.direction),
        elementBytes_(setup.elementBytes), owner_(setup.owner), announcements_(comm_, tag_),
        outgoing_(makeLanes(setup)), laneOf_(direction_.unpacks.size(), -1),
        messages_(setup, sendsByMessage(), direction_.others(direction_.unpacks, [this](int peer) {
          return !isOnNode(peer);
        })) {}

  // The share of an action that goes by lanes.
  virtual void beginLanes(const Action& action) = 0;
  virtual void receiveByLane(Incoming& in, const Action& action, Interval chunks,
                             const Meeting& meeting) = 0;
  virtual void endLanes(const Action& action) = 0;

  Index bytesOf(const Part& part) const noexcept { return part.elements * elementBytes_; }
  const Part& partOf(const Outgoing& out) const { return direction_.packs[out.part]; }
  const Part& partOf(const Incoming& in) const { return direction_.unpacks[in.part]; }
  bool hasMessages() const { return messages_.sendBytes() + messages_.receiveBytes() > 0; }

  // The ranks that the error of one that waits too long names.
  std::string missingReaders() const {
    std::vector<int> peers;
    for (const Outgoing& out : outgoing_)
      if (out.isAwaited())
        peers.push_back(partOf(out).peer);
    return ranksText(peers);
  }

  CommPtr comm_;
  int tag_;
  const Direction& direction_;
  Index elementBytes_;
  std::string owner_, whyNoLane_;
  Announcements<typename Lane::Address> announcements_;
  std::vector<Outgoing> outgoing_;
  std::vector<Incoming> incoming_;
  std::vector<int>
      laneOf_; // by unpack part: its number in incoming_, or -1 if it comes as a message
  MessageCarrier messages_;

private:
  // The arena is NULL only where the rank is alone, so that nobody asks.
  bool isOnNode(int peer) const { return comm_->arena()->isOnNode(peer); }
  std::vector<std::size_t> onNode(const std::vector<Part>& parts) const {
    return direction_.others(parts, [this](int peer) { return isOnNode(peer); });
  }

  std::vector<Outgoing> makeLanes(const CarrierSetup& setup) {
    const std::vector<Part>& parts = direction_.packs;
    Index bytes = 0;
    for (std::size_t i : onNode(parts))
      bytes += bytesOf(parts[i]);
    std::vector<Outgoing> outgoing;
    for (std::size_t i : onNode(parts)) {
      std::optional<Outgoing> out = Lane::make(setup, i, bytes, whyNoLane_);
      announcements_.add(parts[i].peer, out ? out->address() : typename Lane::Address{});
      if (out)
        outgoing.push_back(std::move(*out));
    }
    return outgoing;
  }

  std::vector<std::size_t> sendsByMessage() const {
    std::vector<std::size_t> sends = direction_.others(direction_.packs, [](int) { return true; });
    std::erase_if(sends, [&](std::size_t part) {
      return std::any_of(outgoing_.begin(), outgoing_.end(),
                         [&](const Outgoing& out) { return out.part == part; });
    });
    return sends;
  }

  // Opens the lanes in the first action. Every sender has begun it with its announcements, so that
  // waiting for them here blocks nobody.
  void open(const Action& action) {
    if (isOpen_)
      return;
    isOpen_ = true;
    std::vector<std::size_t> late;
    for (std::size_t i : onNode(direction_.unpacks)) {
      const Part& part = direction_.unpacks[i];
      const auto address = announcements_.receive(part.peer);
      if (!Lane::isMade(address)) {
        late.push_back(i);
        continue;
      }
      laneOf_[i] = static_cast<int>(incoming_.size());
      incoming_.push_back(Lane::open(*comm_, i, part.peer, address, bytesOf(part)));
    }
    late_.open({comm_, tag_, direction_, elementBytes_, {}, owner_}, late, action, reach_);
    announcements_.waitUntilRead();
  }

  LateMessages late_;
  Wire::Reach reach_ = Wire::Reach::Host; // of MPI, into the arrays' space
  bool isOpen_ = false;
};

} // namespace tenon
