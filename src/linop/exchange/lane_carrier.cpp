// SPDX-License-Identifier: BSD-2-Clause
#include "linop/exchange/lane_carrier.hpp"

#include "comm/agreement/patience.hpp"
#include "dtensor/arithmetic.hpp"
#include "sys/log/log.hpp"
#include "sys/log/stopwatch.hpp"

#include <algorithm>
#include <limits>

namespace tenon {

namespace {

// Where the first cell lies, or -1 unless the peers see all cells.
Index placeInArena(const DTensor& x, const SharedArena& arena) {
  const ByteSpan span = spanOf(x);
  const std::optional<Index> place = arena.placeOf(span.begin, span.bytes);
  return place ? *place + span.toFirst : -1;
}

} // namespace

LaneCarrier::LaneCarrier(const CarrierSetup& setup)
    : comm_(setup.comm), arena_(setup.comm->arena()), tag_(setup.tag), direction_(setup.direction),
      cellBytes_(setup.cellBytes), packLimit_(setup.policy.packLimit), owner_(setup.owner),
      announcements_(comm_, tag_), outgoing_(makeLanes(setup.policy.stores)),
      laneOf_(direction_.unpacks.size(), -1),
      messages_(setup, sendsByMessage(), direction_.others(direction_.unpacks, [this](int peer) {
        return !arena_->isOnNode(peer);
      })) {}

std::vector<LaneCarrier::Outgoing> LaneCarrier::makeLanes(StoreWay stores) {
  const std::vector<Part>& parts = direction_.packs;
  const std::vector<std::size_t> near = direction_.others(parts, onNode());
  Index packedBytes = 0;
  for (std::size_t i : near)
    packedBytes += bytesOf(parts[i]);
  std::vector<Outgoing> outgoing;
  for (std::size_t i : near) {
    const Index bytes = bytesOf(parts[i]);
    largest_ = std::max(largest_, bytes);
    const LaneShape shape(bytes);
    const int slots = shape.slotsOf(bytes, packedBytes);
    auto lane = std::make_unique<SendLane>(arena_, bytes, slots, owner_);
    announcements_.add(parts[i].peer, lane->address());
    if (lane->exists())
      outgoing.push_back({.part = i,
                          .stores = {shape.isTimed() ? stores : StoreWay::Cached, slots},
                          .lane = std::move(lane)});
  }
  return outgoing;
}

std::vector<std::size_t> LaneCarrier::sendsByMessage() const {
  std::vector<std::size_t> sends = direction_.others(direction_.packs, [](int) { return true; });
  std::erase_if(sends, [&](std::size_t part) {
    return std::any_of(outgoing_.begin(), outgoing_.end(),
                       [&](const Outgoing& out) { return out.part == part; });
  });
  return sends;
}

Index LaneCarrier::ownBytes() const {
  Index bytes = late_.heldBytes();
  for (const Outgoing& out : outgoing_)
    bytes += out.lane->bytes();
  return bytes;
}

std::string LaneCarrier::describe() const {
  return messages_.sendBytes() > 0 ? "shared, messages" : "shared";
}

// At the end of the first action, whose announcements all senders have made when they began it.
void LaneCarrier::open(const Action& action) {
  opened_ = true;
  std::vector<std::size_t> late;
  for (std::size_t i : direction_.others(direction_.unpacks, onNode())) {
    const Part& part = direction_.unpacks[i];
    const LaneAddress address = announcements_.receive(part.peer);
    if (address.place < 0) {
      late.push_back(i);
      continue;
    }
    laneOf_[i] = static_cast<int>(incoming_.size());
    incoming_.push_back({i, {*arena_, part.peer, address, bytesOf(part)}});
  }
  late_.open({comm_, tag_, direction_, cellBytes_, {}, owner_}, late, action);
  announcements_.waitUntilRead();
}

void LaneCarrier::begin(const Action& action) {
  announcements_.send();
  messages_.begin(action);
  late_.begin(action);
  const DTensor& x = *action.x;
  place_ = largest_ > packLimit_ ? placeInArena(x, *arena_) : -1;
  for (Outgoing& out : outgoing_) {
    const Part& part = partOf(out);
    out.readInPlace = place_ >= 0 && bytesOf(part) > packLimit_;
    out.posts = out.readInPlace ? 1 : part.chunks.count();
    out.posted = 0;
    logMessage(bytesOf(part));
  }
  morePosts_ = true;
  pump(x, std::numeric_limits<Index>::max());
}

// Fills free slots, at most so many of each lane.
void LaneCarrier::pump(const DTensor& x, Index mostOfEach) {
  if (!morePosts_)
    return;
  morePosts_ = false;
  for (Outgoing& out : outgoing_) {
    for (Index i = 0; i < mostOfEach && out.posted < out.posts && out.lane->hasFreeSlot(); ++i)
      post(out, x);
    morePosts_ = morePosts_ || out.posted < out.posts;
  }
}

void LaneCarrier::post(Outgoing& out, const DTensor& x) {
  const Index chunk = out.posted++;
  const int slot = out.lane->nextSlot();
  if (out.readInPlace) {
    out.stores.forget(slot);
    return out.lane->postArray(place_, x.strides());
  }
  out.stores.run(slot, out.lane->readSeconds(), [&](StoreWay way) {
    std::byte* const begin = out.lane->slotData();
    std::byte* end = begin;
    partOf(out).visit({chunk, chunk + 1}, [&](const Region& from, const Region&) {
      end = packRegion(x, from, end, way);
    });
    return static_cast<Index>(end - begin);
  });
  out.lane->postPacked();
}

void LaneCarrier::awaitPosting(const Incoming& in, const DTensor& x) {
  Patience patience(*comm_);
  while (!in.lane.hasPosting()) {
    pump(x, 1);
    patience.wait([&] { return missingSenders(in); });
  }
  pump(x, 1);
}

void LaneCarrier::receive(const Action& action, std::size_t part, Interval chunks,
                          const Meeting& meeting) {
  if (!opened_)
    open(action);
  if (laneOf_[part] >= 0)
    receive(incoming_[laneOf_[part]], action, chunks, meeting);
  else if (messages_.receives(part))
    messages_.receive(action, part, chunks, meeting);
  else
    late_.receive(action, part, chunks, meeting);
}

// Of an array that is read in place the first chunk brings the place, and the last releases.
void LaneCarrier::receive(Incoming& in, const Action& action, Interval chunks,
                          const Meeting& meeting) {
  const Part& part = direction_.unpacks[in.part];
  const int rank = action.y->rank();
  if (chunks.begin == 0) {
    awaitPosting(in, *action.x);
    in.place = in.lane.place();
  }
  if (in.place.array != kPacked) {
    const std::byte* array = arena_->at(part.peer, in.place.array);
    part.visit(chunks, [&](const Region& from, const Region& to) {
      combineRegion(action, to, viewOf(array, in.place.strides, from, rank, cellBytes_), meeting);
    });
    if (chunks.end == part.chunks.count())
      in.lane.release();
    return;
  }
  for (Index chunk = chunks.begin; chunk < chunks.end; ++chunk) {
    if (chunk > 0)
      awaitPosting(in, *action.x);
    const Stopwatch watch(in.lane.isTimed());
    combineChunks(action, part, {chunk, chunk + 1}, in.lane.slotData(), meeting);
    in.lane.release(watch.seconds());
  }
}

// Posts what is left, and waits until nobody reads the array any more.
void LaneCarrier::end(const Action& action) {
  if (!opened_)
    open(action);
  Patience patience(*comm_);
  const auto missing = [&] { return missingReaders(); };
  for (pump(*action.x, 1); morePosts_; pump(*action.x, 1))
    patience.wait(missing);
  for (const Outgoing& out : outgoing_)
    while (out.readInPlace && !out.lane->isDrained())
      patience.wait(missing);
  late_.end(action);
  messages_.end(action);
}

// Of this part's lane and the later ones.
std::string LaneCarrier::missingSenders(const Incoming& from) const {
  std::vector<int> peers;
  for (const Incoming* in = &from; in != incoming_.data() + incoming_.size(); ++in)
    if (!in->lane.hasPosting())
      peers.push_back(direction_.unpacks[in->part].peer);
  return ranksText(peers);
}

std::string LaneCarrier::missingReaders() const {
  std::vector<int> peers;
  for (const Outgoing& out : outgoing_)
    if (out.posted < out.posts || (out.readInPlace && !out.lane->isDrained()))
      peers.push_back(partOf(out).peer);
  return ranksText(peers);
}

} // namespace tenon
