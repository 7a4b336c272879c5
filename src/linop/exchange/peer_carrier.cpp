// SPDX-License-Identifier: BSD-2-Clause
#include "linop/exchange/peer_carrier.hpp"

#include "comm/agreement/patience.hpp"
#include "sys/log/log.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

PeerCarrier::PeerCarrier(const CarrierSetup& setup)
    : comm_(setup.comm), context_(contextOf(comm_, Space::Device)), tag_(setup.tag),
      direction_(setup.direction), cellBytes_(setup.cellBytes), owner_(setup.owner),
      memory_(comm_->deviceArena().arena->describe()), announcements_(comm_, tag_),
      outgoing_(makeLanes(setup.policy.transport)), laneOf_(direction_.unpacks.size(), -1),
      messages_(setup, sendsByMessage(), direction_.others(direction_.unpacks, [this](int peer) {
        return !isOnNode(peer);
      })) {
  packed_ = posted_ = outgoing_.size();
}

// Where auto finds no room for a lane the part goes as a message.
std::vector<PeerCarrier::Outgoing> PeerCarrier::makeLanes(Transport asked) {
  const std::vector<Part>& parts = direction_.packs;
  std::vector<Outgoing> outgoing;
  for (std::size_t i : direction_.others(parts, onNode())) {
    DeviceLaneAddress address;
    try {
      SendDeviceLane lane(*comm_, bytesOf(parts[i]), owner_);
      address = lane.address();
      outgoing.push_back({i, std::move(lane)});
    } catch (const Error& error) {
      if (asked == Transport::Shared || error.code() != TENON_ERR_MEMORY)
        throw;
      whyNoLane_ = error.text();
    }
    announcements_.add(parts[i].peer, address);
  }
  return outgoing;
}

std::vector<std::size_t> PeerCarrier::sendsByMessage() const {
  std::vector<std::size_t> sends = direction_.others(direction_.packs, [](int) { return true; });
  std::erase_if(sends, [&](std::size_t part) {
    return std::any_of(outgoing_.begin(), outgoing_.end(),
                       [&](const Outgoing& out) { return out.part == part; });
  });
  return sends;
}

PeerCarrier::~PeerCarrier() {
  abandon();
  settle();
}

// Peers may wait for what was read here, whose kernels a failure of the device has ended too.
void PeerCarrier::settle() noexcept {
  const auto waitFor = [](const Event& event) {
    try {
      event.synchronise();
    } catch (...) { // whoever uses the device next is told
    }
  };
  for (Incoming& in : incoming_) {
    waitFor(in.read);
    if (in.isRead)
      in.lane.release();
  }
  for (const Outgoing& out : outgoing_)
    waitFor(out.packed);
}

Index PeerCarrier::ownBytes() const {
  Index bytes = late_.heldBytes();
  for (const Outgoing& out : outgoing_)
    bytes += out.lane.heldBytes();
  return bytes;
}

std::string PeerCarrier::describe() const {
  std::string text = fmt::format("shared ({}, read in place by the devices of the node)", memory_);
  if (hasMessages())
    text += ", " + messages_.describe();
  if (!whyNoLane_.empty())
    text += fmt::format(" (not all shared: {})", whyNoLane_);
  return text;
}

void PeerCarrier::begin(const Action& action) {
  announcements_.send();
  for (const Outgoing& out : outgoing_)
    logMessage(bytesOf(direction_.packs[out.part]));
  x_ = action.x;
  packed_ = posted_ = 0;
  comm_->remove(*this); // it may still have to release
  comm_->add(*this);
  if (hasMessages())
    messages_.begin(action);
  late_.begin(action);
  comm_->advance();
}

void PeerCarrier::abandon() noexcept {
  comm_->remove(*this);
  packed_ = posted_ = outgoing_.size();
  messages_.abandon();
}

void PeerCarrier::advance() {
  bool isReading = false;
  for (Incoming& in : incoming_) {
    if (in.isRead && in.read.isDone())
      release(in);
    isReading = isReading || in.isRead;
  }
  while (packed_ < outgoing_.size() && outgoing_[packed_].lane.isReleased())
    pack(outgoing_[packed_]);
  while (posted_ < packed_ && outgoing_[posted_].packed.isDone())
    post();
  if (posted_ == outgoing_.size() && !isReading)
    comm_->remove(*this);
}

void PeerCarrier::pack(Outgoing& out) {
  std::byte* cells = out.lane.data();
  for (const Region& region : direction_.packs[out.part].from)
    cells = packRegion(*x_, region, cells, StoreWay::Cached);
  context_->stream().record(out.packed);
  ++packed_;
}

void PeerCarrier::post() {
  outgoing_[posted_++].lane.post();
}

void PeerCarrier::release(Incoming& in) {
  in.isRead = false;
  in.lane.release();
}

// At the end of the first action, whose announcements all senders have made when they began it.
void PeerCarrier::open(const Action& action) {
  opened_ = true;
  std::vector<std::size_t> late;
  for (std::size_t i : direction_.others(direction_.unpacks, onNode())) {
    const Part& part = direction_.unpacks[i];
    const DeviceLaneAddress address = announcements_.receive(part.peer);
    if (address.turns.place < 0) {
      late.push_back(i);
      continue;
    }
    laneOf_[i] = static_cast<int>(incoming_.size());
    incoming_.push_back({i, ReceiveDeviceLane(*comm_, part.peer, address, bytesOf(part))});
  }
  late_.open({comm_, tag_, direction_, cellBytes_, {}, owner_}, late, action, reach_);
  announcements_.waitUntilRead();
}

void PeerCarrier::awaitPosting(Incoming& in) {
  if (in.isRead) { // what was posted before is still there
    in.read.synchronise();
    release(in);
  }
  Patience patience(*comm_);
  while (!in.lane.hasPosting()) {
    comm_->advance();
    patience.wait([&] { return ranksText({direction_.unpacks[in.part].peer}); });
  }
}

void PeerCarrier::receive(const Action& action, std::size_t part, Interval chunks,
                          const Meeting& meeting) {
  if (!opened_)
    open(action);
  if (laneOf_[part] < 0)
    return messages_.receives(part) ? messages_.receive(action, part, chunks, meeting)
                                    : late_.receive(action, part, chunks, meeting);
  Incoming& in = incoming_[laneOf_[part]];
  if (chunks.begin == 0) {
    awaitPosting(in);
    in.next = in.lane.data();
  }
  in.next = combineChunks(action, direction_.unpacks[part], chunks, in.next, meeting);
  if (chunks.end == direction_.unpacks[part].chunks.count()) {
    context_->stream().record(in.read);
    in.isRead = true;
  }
}

// Packs and posts what is left.
void PeerCarrier::end(const Action& action) {
  if (!opened_)
    open(action);
  Patience patience(*comm_);
  while (posted_ < outgoing_.size()) {
    if (posted_ < packed_)
      outgoing_[posted_].packed.synchronise();
    comm_->advance();
    if (posted_ == packed_ && packed_ < outgoing_.size())
      patience.wait([&] { return missingReaders(); });
  }
  late_.end(action);
  if (hasMessages())
    messages_.end(action);
}

std::string PeerCarrier::missingReaders() const {
  std::vector<int> peers;
  for (const Outgoing& out : outgoing_)
    if (!out.lane.isReleased())
      peers.push_back(direction_.packs[out.part].peer);
  return ranksText(peers);
}

} // namespace tenon
