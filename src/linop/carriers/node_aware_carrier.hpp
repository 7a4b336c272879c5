// SPDX-License-Identifier: BSD-2-Clause
// NodeAwareCarrier: relays the small parts for ranks of other nodes (relay.hpp), and leaves all
// other parts to the carrier of the transport `auto`: lanes within the node, and messages between
// nodes. Which parts are relayed depends on the nodes of the two ranks and the size of the part, so
// sender and receiver decide alike. Contributions are combined in the same order as by any other
// carrier.
#pragma once

#include "linop/carriers/relay.hpp"

namespace tenon {

class NodeAwareCarrier final : public Carrier {
public:
  // For host arrays. Collective. Throws TENON_ERR_SUPPORT if the ranks of a node share no memory.
  explicit NodeAwareCarrier(const CarrierSetup& setup);

  void begin(const Action& action) override {
    relay_.begin(action);
    direct_->begin(action);
  }
  void receive(const Action& action, std::size_t part, Interval chunks,
               const Meeting& meeting) override {
    if (directPart_[part] >= 0)
      direct_->receive(action, static_cast<std::size_t>(directPart_[part]), chunks, meeting);
    else // A part that is relayed has one chunk.
      relay_.receive(action, part, meeting);
  }
  void receiveAll(const Action& action, const Meeting& meeting) override {
    direct_->receiveAll(action, meeting);
    relay_.receiveAll(action, meeting);
  }
  void end(const Action& action) override {
    direct_->end(action);
    relay_.end();
  }
  void abandon() noexcept override {
    direct_->abandon();
    relay_.abandon();
  }
  void bind(DTensor& x, DTensor& y) override { direct_->bind(x, y); }
  void unbind() override { direct_->unbind(); }
  Index sendBytes() const override { return direct_->sendBytes(); }
  Index receiveBytes() const override { return direct_->receiveBytes(); }
  void useWires(Wire& send, Wire& receive) override { direct_->useWires(send, receive); }
  Index ownBytes() const override { return direct_->ownBytes() + relay_.heldBytes(); }
  std::string describe() const override;

private:
  // The indices of the parts that are relayed, and the direction without them.
  struct Split {
    std::vector<std::size_t> packs, unpacks;
    Direction rest;
  };
  static Split splitOf(const CarrierSetup& setup);
  NodeAwareCarrier(const CarrierSetup& setup, Split split);

  Direction rest_;
  std::vector<int> directPart_; // By unpack part: its index in rest_, or -1 if it is relayed.
  Relay relay_;
  std::unique_ptr<Carrier> direct_;
  std::size_t relayed_; // Number of parts that this rank sends by the relay.
};

} // namespace tenon
