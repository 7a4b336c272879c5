// SPDX-License-Identifier: BSD-2-Clause
// Relay: brings small parts of an action (part.hpp) to ranks of other nodes in one message for each
// pair of nodes, through the ranks that exchange messages for their nodes (the gateways of
// comm/node_map.hpp):
//
//   sender, a rank of node A   packs its part into a lane to the gateway of A for B
//   gateway of A for B         collects the parts of its node and sends them in one message
//   gateway of B for A         receives the message and posts each part in a lane to its receiver
//   receiver, a rank of B      combines the part with y, when the executor wants it
//
// Where the sender or the receiver is the gateway, no lane is needed. The parts of a message are in
// the order of senders, then receivers. Both gateways know them at set-up, since each rank tells
// its gateways what it sends and receives according to the schedule. In an action a gateway works
// in every wait on the communicator (Pending), and completes its work in end().
#pragma once

#include "comm/exchange.hpp"
#include "comm/memory/lane.hpp"
#include "comm/sparse_exchange.hpp"
#include "linop/carriers/carrier.hpp"
#include "linop/carriers/packed_runs.hpp"

#include <map>
#include <memory>
#include <optional>

namespace tenon {

class NodeMap;

class Relay final : private Pending {
public:
  // Relays these pack and unpack parts, which have at most kLargePart bytes each. Collective.
  // Throws TENON_ERR_MEMORY without memory for a lane.
  Relay(const CarrierSetup& setup, const std::vector<std::size_t>& packs,
        const std::vector<std::size_t>& unpacks);
  ~Relay() override { abandon(); }
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  // The calls of a carrier.
  void begin(const Action& action);
  void receive(const Action& action, std::size_t part, const Meeting& meeting);
  void receiveAll(const Action& action, const Meeting& meeting);
  void end();
  void abandon() noexcept { comm_->remove(*this); }
  Index heldBytes() const noexcept;

private:
  // A part as a rank tells it to another one at set-up, with the lane that the teller has made for
  // it, if any.
  struct Leg;
  // A part that this rank sends, into a lane, or as a gateway into a message; and one that it
  // receives from either. `place` is in the message.
  struct Departure {
    std::size_t part;
    PartRuns runs;
    std::unique_ptr<SendLane> lane = {};
    int message = -1;
    std::byte* place = nullptr;
    bool isDone = false;
  };
  struct Arrival {
    std::size_t part;
    PartRuns runs;
    std::optional<ReceiveLane> lane = {};
    int message = -1;
    const std::byte* place = nullptr;
    bool isDone = false;
  };
  // A part of another rank of the node that a gateway collects from a lane, or posts in a lane.
  struct Collection {
    int sender;
    ReceiveLane lane;
    int message;
    std::byte* place;
    Index bytes;
    bool isDone = false;
  };
  struct Delivery {
    int receiver;
    std::unique_ptr<SendLane> lane;
    int message;
    const std::byte* place;
    Index bytes;
    bool isDone = false;
  };
  // The parts of a message, and the gateway of the other node.
  using LegsByPeer = std::map<int, std::vector<Leg>>;

  SparseMessages tellGateways(const NodeMap& nodes, const std::vector<std::size_t>& packs,
                              const std::vector<std::size_t>& unpacks);
  SparseMessages makeMessages(const NodeMap& nodes, const SparseMessages& told);
  std::unique_ptr<SendLane> makeLane(Index bytes) const;
  std::vector<Message> messagesOf(const LegsByPeer& legs, Buffer& memory) const;
  void addSent(int message, std::byte* place, const Leg& leg);
  void addReceived(int message, const std::byte* place, Leg leg, SparseMessages& handedOn);
  Arrival& arrivalFrom(int sender);

  void advance() override;
  void depart();
  void collect();
  void deliver();
  void addedTo(int message);
  bool hasArrived(const Arrival& arrival) const;
  void combine(const Action& action, Arrival& arrival, const Meeting& meeting);
  template <class IsDone>
  void waitUntil(const IsDone& isDone);
  std::string missing() const;

  CommPtr comm_;
  int tag_;
  const Direction& direction_;
  std::string owner_;
  Buffer sentBytes_, receivedBytes_; // Of the messages.
  std::unique_ptr<Exchange> exchange_;
  std::vector<Departure> departures_;
  std::vector<Arrival> arrivals_;
  std::vector<int> arrivalOf_; // By unpack part, or -1.
  std::vector<Collection> collections_;
  std::vector<Delivery> deliveries_;
  std::vector<int> partsOfSend_; // By sent message.

  // Of the action in flight: by message, the parts that it lacks, and whether it has been received;
  // how many departures, collections, deliveries and received pieces are left.
  Action action_;
  std::vector<int> missingParts_;
  std::vector<bool> isReceived_;
  std::size_t workLeft_ = 0, piecesLeft_ = 0;
};

} // namespace tenon
