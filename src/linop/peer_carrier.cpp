// SPDX-License-Identifier: BSD-2-Clause
#include "linop/peer_carrier.hpp"

#include "comm/patience.hpp"
#include "sys/log.hpp"

namespace tenon {

std::vector<std::size_t> PeerCarrier::partsFor(const CarrierSetup& setup,
                                               const std::vector<Part>& parts, bool onNode) {
  return setup.direction.others(
      parts, [&](int peer) { return setup.comm->arena()->isOnNode(peer) == onNode; });
}

PeerCarrier::PeerCarrier(const CarrierSetup& setup)
    : comm_(setup.comm), context_(contextOf(comm_, Space::Device)), direction_(setup.direction),
      announcements_(comm_, setup.tag), laneOf_(direction_.unpacks.size(), -1),
      messages_(setup, partsFor(setup, direction_.packs, false),
                partsFor(setup, direction_.unpacks, false)),
      hasMessages_(messages_.sendBytes() + messages_.receiveBytes() > 0) {
  for (std::size_t i : partsFor(setup, direction_.packs, true)) {
    const Part& part = direction_.packs[i];
    outgoing_.push_back({i, SendDeviceLane(*comm_, part.cells * setup.cellBytes, setup.owner)});
    announcements_.add(part.peer, outgoing_.back().lane.address());
  }
  packed_ = posted_ = outgoing_.size();
  int lanes = 0;
  for (std::size_t i : partsFor(setup, direction_.unpacks, true))
    laneOf_[i] = lanes++;
}

PeerCarrier::~PeerCarrier() {
  comm_->remove(*this);
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
  Index bytes = 0;
  for (const Outgoing& out : outgoing_)
    bytes += out.lane.bytes();
  return bytes;
}

std::string PeerCarrier::describe() const {
  const std::string shared = "shared (device memory, read in place by the ranks of the node)";
  return hasMessages_ ? shared + ", " + messages_.describe() : shared;
}

void PeerCarrier::begin(const Action& action) {
  announcements_.send();
  for (const Outgoing& out : outgoing_)
    logMessage(out.lane.bytes());
  x_ = action.x;
  packed_ = posted_ = 0;
  comm_->remove(*this); // it may still have to release
  comm_->add(*this);
  if (hasMessages_)
    messages_.begin(action);
  comm_->advance();
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
void PeerCarrier::open() {
  opened_ = true;
  for (std::size_t i = 0; i < laneOf_.size(); ++i)
    if (laneOf_[i] >= 0) {
      const int peer = direction_.unpacks[i].peer;
      incoming_.push_back({i, ReceiveDeviceLane(*comm_, peer, announcements_.receive(peer))});
    }
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
    open();
  if (laneOf_[part] < 0)
    return messages_.receive(action, part, chunks, meeting);
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
    open();
  Patience patience(*comm_);
  while (posted_ < outgoing_.size()) {
    if (posted_ < packed_)
      outgoing_[posted_].packed.synchronise();
    comm_->advance();
    if (posted_ == packed_ && packed_ < outgoing_.size())
      patience.wait([&] { return missingReaders(); });
  }
  if (hasMessages_)
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
