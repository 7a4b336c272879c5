// SPDX-License-Identifier: BSD-2-Clause
// Packs parts on the device into lanes, which the other devices of the node read, and combines the
// parts that other ranks have posted. The host launches kernels and updates the lanes' counters. A
// lane is posted or released only when the event after the kernels that use the lane has completed,
// so no rank reads or refills data while a kernel uses them.
#include "linop/carriers/peer_carrier.hpp"

#include "comm/agreement/wait_policy.hpp"
#include "kernels/movement/block_queue.hpp"

#include <fmt/format.h>

#include <utility>

namespace tenon {

// With transport "auto", parts without memory for a lane become messages.
std::optional<DeviceLane::Outgoing> DeviceLane::make(const CarrierSetup& setup,
                                                     const std::vector<std::size_t>& parts, Index,
                                                     std::string& whyNot) {
  try {
    const Index bytes = setup.direction.packs[parts.front()].bytes;
    return Outgoing{parts, SendDeviceLane(*setup.comm, bytes, parts.size(), setup.owner)};
  } catch (const Error& error) {
    if (setup.policy.transport == Transport::Shared || error.code() != TENON_ERR_MEMORY)
      throw;
    whyNot = error.text();
    return std::nullopt;
  }
}

PeerCarrier::PeerCarrier(const CarrierSetup& setup)
    : NodeCarrier(setup), context_(contextOf(comm_, Space::Device)),
      memory_(comm_->deviceArena().arena->describe()), packed_(outgoing_.size()),
      posted_(outgoing_.size()) {}

PeerCarrier::~PeerCarrier() {
  abandon();
  settle();
}

// Waits for this rank's kernels, and releases the lanes that they have read, since the senders can
// be waiting for the release. If the device has failed, its kernels have ended too.
void PeerCarrier::settle() noexcept {
  const auto waitFor = [](const Event& event) {
    try {
      event.synchronise();
    } catch (...) { // The next use of the device reports the error.
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

std::string PeerCarrier::describe() const {
  std::string text = fmt::format("shared ({}, read in place by the devices of the node)", memory_);
  if (hasMessages())
    text += ", " + messages_.describe();
  if (!whyNoLane_.empty())
    text += fmt::format(" (not all shared: {})", whyNoLane_);
  return text;
}

void PeerCarrier::beginLanes(const Action& action) {
  action_ = action;
  packed_ = posted_ = 0;
  comm_->remove(*this); // Still registered if releases of the last action are due.
  comm_->add(*this);
}

void PeerCarrier::abandon() noexcept {
  comm_->remove(*this);
  packed_ = posted_ = outgoing_.size();
  try {
    endReading();
  } catch (...) { // The next use of the device reports the error.
  }
  NodeCarrier::abandon();
}

// Lanes are packed and posted in their order, so two counters describe the progress. A lane whose
// receiver is late delays those after it, but no rank waits for it here.
void PeerCarrier::advance() {
  bool isReading = false;
  for (Incoming& in : incoming_) {
    if (in.isRead && in.read.isDone())
      release(in);
    isReading = isReading || in.isRead;
  }
  if (packed_ < outgoing_.size() && outgoing_[packed_].lane.isReleased())
    packReleased();
  while (posted_ < packed_ && outgoing_[posted_].packed.isDone())
    post();
  if (posted_ == outgoing_.size() && !isReading)
    comm_->remove(*this);
}

void PeerCarrier::packReleased() {
  const std::size_t first = packed_;
  BlockQueue queue(action_.x->context());
  for (; packed_ < outgoing_.size() && outgoing_[packed_].lane.isReleased(); ++packed_) {
    std::byte* elements = outgoing_[packed_].lane.data();
    for (const Region& region : partOf(outgoing_[packed_]).from)
      elements = packRegion(queue, action_.source(region.field), region, elements);
  }
  queue.flush();
  for (std::size_t i = first; i < packed_; ++i)
    context_->stream().record(outgoing_[i].packed);
}

void PeerCarrier::post() {
  outgoing_[posted_++].lane.post();
}

void PeerCarrier::release(Incoming& in) {
  in.isRead = false;
  in.lane.release();
}

void PeerCarrier::awaitPosting(Incoming& in) {
  // The posting of the last action has not been released, and would be mistaken for the new one.
  if (in.isRead) {
    in.read.synchronise();
    release(in);
  }
  WaitPolicy policy(*comm_);
  while (!in.lane.hasPosting()) {
    comm_->advance();
    policy.wait([&] { return ranksText({partOf(in).peer}); });
  }
}

void PeerCarrier::receiveByLane(Incoming& in, const Action& action, Interval chunks,
                                const Meeting& meeting) {
  const Part& part = partOf(in);
  if (chunks.begin == 0) {
    awaitPosting(in);
    in.next = in.lane.data();
  }
  in.next = combineChunks(action, part, chunks, in.next, meeting);
  if (chunks.end == part.chunks.count())
    in.isQueued = true;
}

// Records the events after the kernels that read the received parts.
void PeerCarrier::endReading() {
  for (Incoming& in : incoming_)
    if (std::exchange(in.isQueued, false)) {
      context_->stream().record(in.read);
      in.isRead = true;
    }
}

// Packs and posts the remaining lanes. The host waits for its packing kernels, and posts their
// lanes, before it waits for a receiver, which can itself be waiting for one of these postings.
void PeerCarrier::endLanes(const Action&) {
  endReading();
  WaitPolicy policy(*comm_);
  while (posted_ < outgoing_.size()) {
    if (posted_ < packed_)
      outgoing_[posted_].packed.synchronise();
    comm_->advance();
    if (posted_ == packed_ && packed_ < outgoing_.size())
      policy.wait([&] { return missingReaders(); });
  }
}

} // namespace tenon
