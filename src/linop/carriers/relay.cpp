// SPDX-License-Identifier: BSD-2-Clause
// The set-up and the work of ranks that relay parts between nodes (relay.hpp). Set-up takes two
// rounds: each rank tells its gateways the parts that it sends and receives, with a lane for each
// that it sends; then each gateway tells the receivers the lanes by which their parts will come.
// For example, ranks 0 and 1 of a node each send ranks 2 and 3 of another node a part: the gateways
// 0 and 2 exchange a message of the parts 0 to 2, 0 to 3, 1 to 2 and 1 to 3. Rank 1 has lanes for
// its two parts to rank 0, and rank 2 has lanes for two parts to rank 3.
#include "linop/carriers/relay.hpp"

#include "comm/agreement/agreement.hpp"
#include "comm/agreement/wait_policy.hpp"
#include "comm/node_map.hpp"
#include "sys/log/log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace tenon {

// A part on its way through gateways, as ranks tell each other of it during set-up: from the sender
// or the receiver to its gateway, and from a gateway to the receiver. In a message it is a row of
// six numbers.
struct Relay::Leg {
  Index isSent = 0; // 1 if the sender tells its gateway of the part, 0 if the receiver does.
  Index sender = -1, receiver = -1, bytes = 0;
  LaneAddress lane = {}; // From the sender to its gateway, or from a gateway to the receiver.

  using Numbers = std::array<Index, 6>;
  void addTo(std::vector<Index>& numbers) const {
    const Numbers row{isSent, sender, receiver, bytes, lane.place, lane.slots};
    numbers.insert(numbers.end(), row.begin(), row.end());
  }
  static std::vector<Leg> in(const std::vector<Index>& numbers) {
    std::vector<Leg> legs;
    for (auto row = numbers.begin(); row != numbers.end(); row += std::tuple_size_v<Numbers>)
      legs.push_back({.isSent = row[0],
                      .sender = row[1],
                      .receiver = row[2],
                      .bytes = row[3],
                      .lane = {.place = row[4], .slots = row[5]}});
    return legs;
  }
  bool operator<(const Leg& other) const {
    return std::pair(sender, receiver) < std::pair(other.sender, other.receiver);
  }
};

namespace {

// A sender can be one action ahead of its gateway, and a gateway of its receiver.
constexpr int kRelaySlots = 2;

} // namespace

Relay::Relay(const CarrierSetup& setup, const std::vector<std::size_t>& packs,
             const std::vector<std::size_t>& unpacks)
    : comm_(setup.comm), tag_(setup.comm->nextTag()), direction_(setup.direction),
      owner_(setup.owner) {
  const NodeMap& nodes = nodesOf(comm_);
  const SparseMessages told =
      collectively(*comm_, [&] { return tellGateways(nodes, packs, unpacks); });
  const SparseMessages toGateway = sparseExchange(*comm_, told);
  const SparseMessages handedOn =
      collectively(*comm_, [&] { return makeMessages(nodes, toGateway); });
  for (const auto& [gateway, numbers] : sparseExchange(*comm_, handedOn))
    for (const Leg& leg : Leg::in(numbers))
      arrivalFrom(static_cast<int>(leg.sender))
          .lane.emplace(*comm_->arena(), gateway, leg.lane, leg.bytes);
}

SparseMessages Relay::tellGateways(const NodeMap& nodes, const std::vector<std::size_t>& packs,
                                   const std::vector<std::size_t>& unpacks) {
  SparseMessages told;
  const int rank = comm_->rank();
  const auto gatewayFor = [&](const Part& part) {
    return nodes.gateway(nodes.nodeOf(rank), nodes.nodeOf(part.peer));
  };
  for (std::size_t i : packs) {
    const Part& part = direction_.packs[i];
    Departure& departure = departures_.emplace_back(Departure{i, runsOf(part)});
    Leg leg{.isSent = 1, .sender = rank, .receiver = part.peer, .bytes = part.bytes};
    if (gatewayFor(part) != rank) {
      departure.lane = makeLane(part.bytes);
      leg.lane = departure.lane->address();
    }
    leg.addTo(told[gatewayFor(part)]);
  }
  arrivalOf_.assign(direction_.unpacks.size(), -1);
  for (std::size_t i : unpacks) {
    const Part& part = direction_.unpacks[i];
    arrivalOf_[i] = static_cast<int>(arrivals_.size());
    arrivals_.push_back(Arrival{i, runsOf(part)});
    Leg{.sender = part.peer, .receiver = rank, .bytes = part.bytes}.addTo(told[gatewayFor(part)]);
  }
  return told;
}

std::unique_ptr<SendLane> Relay::makeLane(Index bytes) const {
  auto lane = std::make_unique<SendLane>(comm_->arena(), bytes, kRelaySlots, owner_);
  if (!lane->exists())
    throw Error(TENON_ERR_MEMORY,
                fmt::format("{} needs {} bytes of the memory that the ranks of the node share, for "
                            "parts that go to other nodes together; enlarge -tenon_shared_memory "
                            "or /dev/shm, or set -tenon_conversion_transport to auto",
                            owner_, LaneShape(bytes).laneBytes(kRelaySlots)));
  return lane;
}

// Makes the messages of this rank as a gateway, from the parts that it was told. Returns what it
// tells the receivers.
SparseMessages Relay::makeMessages(const NodeMap& nodes, const SparseMessages& told) {
  LegsByPeer sent, received;
  const int node = nodes.nodeOf(comm_->rank());
  for (const auto& [teller, numbers] : told)
    for (const Leg& leg : Leg::in(numbers)) {
      const bool isSent = leg.isSent != 0;
      const int other = nodes.nodeOf(static_cast<int>(isSent ? leg.receiver : leg.sender));
      (isSent ? sent : received)[nodes.gateway(other, node)].push_back(leg);
    }
  // The gateways of both nodes sort the parts alike, so a message is read in the order in which it
  // was written.
  for (LegsByPeer* legs : {&sent, &received})
    for (auto& [peer, ofMessage] : *legs)
      std::sort(ofMessage.begin(), ofMessage.end());
  std::vector<Message> sends = messagesOf(sent, sentBytes_),
                       receives = messagesOf(received, receivedBytes_);
  SparseMessages handedOn;
  int message = 0;
  for (const auto& [peer, legs] : sent) {
    partsOfSend_.push_back(static_cast<int>(legs.size()));
    std::byte* place = sends[message].data;
    for (const Leg& leg : legs)
      addSent(message, std::exchange(place, place + direction_.paddedBytes(leg.bytes)), leg);
    ++message;
  }
  message = 0;
  for (const auto& [peer, legs] : received) {
    std::byte* place = receives[message].data;
    for (const Leg& leg : legs)
      addReceived(message, std::exchange(place, place + direction_.paddedBytes(leg.bytes)), leg,
                  handedOn);
    ++message;
  }
  isReceived_.resize(receives.size());
  exchange_ = std::make_unique<Exchange>(comm_, tag_, std::move(sends), std::move(receives));
  return handedOn;
}

std::vector<Message> Relay::messagesOf(const LegsByPeer& legs, Buffer& memory) const {
  std::vector<Message> messages;
  Index bytes = 0;
  for (const auto& [peer, ofMessage] : legs) {
    Message& message = messages.emplace_back(Message{.peer = peer});
    for (const Leg& leg : ofMessage)
      message.bytes += direction_.paddedBytes(leg.bytes);
    bytes += message.bytes;
  }
  memory = Buffer(bytes, owner_ + " messages between nodes");
  std::byte* data = memory.data<std::byte>();
  for (Message& message : messages)
    message.data = std::exchange(data, data + message.bytes);
  return messages;
}

void Relay::addSent(int message, std::byte* place, const Leg& leg) {
  const int sender = static_cast<int>(leg.sender);
  if (sender != comm_->rank()) {
    collections_.push_back({.sender = sender,
                            .lane = {*comm_->arena(), sender, leg.lane, leg.bytes},
                            .message = message,
                            .place = place,
                            .bytes = leg.bytes});
    return;
  }
  const auto own = std::ranges::find_if(departures_, [&](const Departure& departure) {
    return direction_.packs[departure.part].peer == leg.receiver;
  });
  own->message = message;
  own->place = place;
}

void Relay::addReceived(int message, const std::byte* place, Leg leg, SparseMessages& handedOn) {
  const int receiver = static_cast<int>(leg.receiver);
  if (receiver == comm_->rank()) {
    Arrival& own = arrivalFrom(static_cast<int>(leg.sender));
    own.message = message;
    own.place = place;
    return;
  }
  Delivery& delivery = deliveries_.emplace_back(Delivery{.receiver = receiver,
                                                         .lane = makeLane(leg.bytes),
                                                         .message = message,
                                                         .place = place,
                                                         .bytes = leg.bytes});
  leg.lane = delivery.lane->address();
  leg.addTo(handedOn[receiver]);
}

Relay::Arrival& Relay::arrivalFrom(int sender) {
  return *std::ranges::find_if(arrivals_, [&](const Arrival& arrival) {
    return direction_.unpacks[arrival.part].peer == sender;
  });
}

Index Relay::heldBytes() const noexcept {
  Index bytes = sentBytes_.bytes() + receivedBytes_.bytes();
  for (const Departure& departure : departures_)
    bytes += departure.lane ? departure.lane->bytes() : 0;
  for (const Delivery& delivery : deliveries_)
    bytes += delivery.lane->bytes();
  return bytes;
}

void Relay::begin(const Action& action) {
  action_ = action;
  const auto start = [](auto& items) {
    for (auto& item : items)
      item.isDone = false;
    return items.size();
  };
  start(arrivals_);
  piecesLeft_ = static_cast<std::size_t>(exchange_->piecesOfReceives());
  workLeft_ = start(departures_) + start(collections_) + start(deliveries_) + piecesLeft_;
  missingParts_ = partsOfSend_;
  isReceived_.assign(isReceived_.size(), false);
  if (workLeft_ == 0)
    return;
  exchange_->startReceives();
  comm_->add(*this);
  advance();
}

void Relay::advance() {
  depart();
  collect();
  deliver();
  if (workLeft_ == 0)
    comm_->remove(*this);
}

void Relay::depart() {
  for (Departure& departure : departures_) {
    if (departure.isDone || (departure.lane && !departure.lane->hasFreeSlot()))
      continue;
    const Part& part = direction_.packs[departure.part];
    packPart(action_, part, departure.runs,
             departure.lane ? departure.lane->slotData() : departure.place, StoreWay::Cached);
    departure.isDone = true;
    --workLeft_;
    if (!departure.lane) {
      addedTo(departure.message);
      continue;
    }
    departure.lane->postPacked();
    logMessage(part.bytes);
  }
}

void Relay::collect() {
  for (Collection& collection : collections_) {
    if (collection.isDone || !collection.lane.hasPosting())
      continue;
    std::memcpy(collection.place, collection.lane.slotData(),
                static_cast<std::size_t>(collection.bytes));
    collection.lane.release();
    collection.isDone = true;
    --workLeft_;
    addedTo(collection.message);
  }
}

// A part has been added to a message, which is sent when it has all of them.
void Relay::addedTo(int message) {
  static const int event = logEvent("BetweenNodes");
  if (--missingParts_[message] > 0)
    return;
  const LogScope scope(event);
  exchange_->startSend(message);
}

void Relay::deliver() {
  while (piecesLeft_ > 0) {
    const std::optional<Exchange::Arrival> piece = exchange_->receivedPiece();
    if (!piece)
      break;
    --piecesLeft_;
    --workLeft_;
    isReceived_[piece->index] = piece->isLast;
  }
  for (Delivery& delivery : deliveries_) {
    if (delivery.isDone || !isReceived_[delivery.message] || !delivery.lane->hasFreeSlot())
      continue;
    std::memcpy(delivery.lane->slotData(), delivery.place,
                static_cast<std::size_t>(delivery.bytes));
    delivery.lane->postPacked();
    logMessage(delivery.bytes);
    delivery.isDone = true;
    --workLeft_;
  }
}

bool Relay::hasArrived(const Arrival& arrival) const {
  return arrival.lane ? arrival.lane->hasPosting() : isReceived_[arrival.message];
}

void Relay::combine(const Action& action, Arrival& arrival, const Meeting& meeting) {
  const Part& part = direction_.unpacks[arrival.part];
  combinePart(action, part, part.chunks.all(), arrival.runs,
              arrival.lane ? arrival.lane->slotData() : arrival.place, meeting);
  if (arrival.lane)
    arrival.lane->release();
  arrival.isDone = true;
}

void Relay::receive(const Action& action, std::size_t part, const Meeting& meeting) {
  Arrival& arrival = arrivals_[arrivalOf_[part]];
  waitUntil([&] { return hasArrived(arrival); });
  combine(action, arrival, meeting);
}

void Relay::receiveAll(const Action& action, const Meeting& meeting) {
  std::size_t left = arrivals_.size();
  waitUntil([&] {
    for (Arrival& arrival : arrivals_)
      if (!arrival.isDone && hasArrived(arrival)) {
        combine(action, arrival, meeting);
        --left;
      }
    return left == 0;
  });
}

void Relay::end() {
  waitUntil([&] { return workLeft_ == 0; });
  exchange_->waitSends();
}

template <class IsDone>
void Relay::waitUntil(const IsDone& isDone) {
  if (isDone())
    return;
  const auto look = piecesLeft_ > 0 ? WaitPolicy::Look::Mpi : WaitPolicy::Look::Memory;
  WaitPolicy policy(*comm_, look);
  for (comm_->advance(); !isDone(); comm_->advance())
    policy.wait([&] { return missing(); });
}

// The ranks whose parts have not arrived, have not been collected, or have not been delivered.
std::string Relay::missing() const {
  std::vector<int> peers;
  for (const Arrival& arrival : arrivals_)
    if (!arrival.isDone && !hasArrived(arrival))
      peers.push_back(direction_.unpacks[arrival.part].peer);
  for (const Collection& collection : collections_)
    if (!collection.isDone)
      peers.push_back(collection.sender);
  for (const Delivery& delivery : deliveries_)
    if (!delivery.isDone)
      peers.push_back(delivery.receiver);
  std::ranges::sort(peers);
  peers.erase(std::ranges::unique(peers).begin(), peers.end());
  return ranksText(peers);
}

} // namespace tenon
