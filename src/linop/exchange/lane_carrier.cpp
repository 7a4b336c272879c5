// SPDX-License-Identifier: BSD-2-Clause
// Packs parts into the slots of lanes, or posts where the array lies, and reads what the node's
// other ranks posted. No rank waits without also filling its own lanes: with a bounded number of
// slots, two ranks that each waited for the other's next chunk would otherwise wait for ever.
#include "linop/exchange/lane_carrier.hpp"

#include "comm/agreement/wait_policy.hpp"
#include "dtensor/arithmetic.hpp"
#include "sys/log/stopwatch.hpp"

#include <limits>

namespace tenon {

namespace {

// The place of the first element in the arena, or -1 unless the peers see all elements.
Index placeInArena(const DTensor& x, const SharedArena& arena) {
  const ByteSpan span = spanOf(x);
  const std::optional<Index> place = arena.placeOf(span.begin, span.bytes);
  return place ? *place + span.toFirst : -1;
}

} // namespace

std::optional<HostLane::Outgoing> HostLane::make(const CarrierSetup& setup, std::size_t part,
                                                 Index allBytes, std::string&) {
  const Index bytes = setup.direction.packs[part].elements * setup.elementBytes;
  const LaneShape shape(bytes);
  const int slots = shape.slotsOf(bytes, allBytes);
  auto lane = std::make_unique<SendLane>(setup.comm->arena(), bytes, slots, setup.owner);
  if (!lane->exists())
    return std::nullopt;
  // Only large slots are timed, and without times there is nothing to choose by.
  const StoreWay way = shape.isTimed() ? setup.policy.stores : StoreWay::Cached;
  return Outgoing{.part = part, .stores = {way, slots}, .lane = std::move(lane)};
}

LaneCarrier::LaneCarrier(const CarrierSetup& setup)
    : NodeCarrier(setup), packLimit_(setup.policy.packLimit) {
  for (const Outgoing& out : outgoing_)
    largest_ = std::max(largest_, bytesOf(partOf(out)));
}

void LaneCarrier::beginLanes(const Action& action) {
  const DTensor& x = *action.x;
  place_ = largest_ > packLimit_ ? placeInArena(x, *comm_->arena()) : -1;
  for (Outgoing& out : outgoing_) {
    const Part& part = partOf(out);
    out.readInPlace = place_ >= 0 && bytesOf(part) > packLimit_;
    out.posts = out.readInPlace ? 1 : part.chunks.count();
    out.posted = 0;
  }
  morePosts_ = true;
  pump(x, std::numeric_limits<Index>::max());
}

// Fills free slots, at most mostOfEach in each lane.
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
  WaitPolicy policy(*comm_);
  while (!in.lane.hasPosting()) {
    pump(x, 1);
    policy.wait([&] { return missingSenders(in); });
  }
  // Slots are filled also where nothing had to be waited for: a rank that always found its data
  // ready would otherwise fill none until the end, while its own receivers wait.
  pump(x, 1);
}

// Where an array is read in place, the first chunk brings the place and the last one releases it:
// the chunks are only there so that sums of many ranks proceed in step.
void LaneCarrier::receiveByLane(Incoming& in, const Action& action, Interval chunks,
                                const Meeting& meeting) {
  const Part& part = partOf(in);
  const int rank = action.y->rank();
  if (chunks.begin == 0) {
    awaitPosting(in, *action.x);
    in.place = in.lane.place();
  }
  if (in.place.array != kPacked) {
    const std::byte* array = comm_->arena()->at(part.peer, in.place.array);
    part.visit(chunks, [&](const Region& from, const Region& to) {
      combineRegion(action, to, viewOf(array, in.place.strides, from, rank, elementBytes_),
                    meeting);
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

// Posts what is left, and waits until nobody reads the array any more: its owner may write it after
// End. Packed chunks need no such wait, since they stay in their slots.
void LaneCarrier::endLanes(const Action& action) {
  WaitPolicy policy(*comm_);
  const auto missing = [&] { return missingReaders(); };
  for (pump(*action.x, 1); morePosts_; pump(*action.x, 1))
    policy.wait(missing);
  for (const Outgoing& out : outgoing_)
    while (out.readInPlace && !out.lane->isDrained())
      policy.wait(missing);
}

// The senders of this part and of later ones that have posted nothing; those of earlier parts have
// been read.
std::string LaneCarrier::missingSenders(const Incoming& from) const {
  std::vector<int> peers;
  for (const Incoming* in = &from; in != incoming_.data() + incoming_.size(); ++in)
    if (!in->lane.hasPosting())
      peers.push_back(partOf(*in).peer);
  return ranksText(peers);
}

} // namespace tenon
