// SPDX-License-Identifier: BSD-2-Clause
// Carries the parts of a conversion (the data of one rank for another) through lanes: rings of
// slots in shared memory (comm/memory/lane.hpp). A small part is packed into slots, chunk by chunk.
// For a large part in shared memory only the address of the array is posted, and the receiver reads
// the array in place. A rank that waits for data also fills free slots of its own lanes: a lane has
// a bounded number of slots, so two ranks that only waited for each other's next chunk would
// deadlock.
#include "linop/carriers/lane_carrier.hpp"

#include "comm/agreement/wait_policy.hpp"
#include "dtensor/arithmetic.hpp"
#include "sys/log/stopwatch.hpp"

#include <limits>

namespace tenon {

namespace {

// Offset of the first element in the arena, or -1 unless all elements of x are in the arena.
Index placeInArena(const DTensor& x, const SharedArena& arena) {
  const ByteSpan span = spanOf(x);
  const std::optional<Index> place = arena.placeOf(span.begin, span.bytes);
  return place ? *place + span.toFirst : -1;
}

} // namespace

std::optional<HostLane::Outgoing> HostLane::make(const CarrierSetup& setup,
                                                 const std::vector<std::size_t>& parts,
                                                 Index allBytes, std::string&) {
  const Part& packed = setup.direction.packs[parts.front()];
  const Index bytes = packed.bytes;
  const LaneShape shape(bytes);
  const int slots = shape.slotsOf(bytes, allBytes);
  auto lane = std::make_unique<SendLane>(setup.comm->arena(), bytes, slots, setup.owner);
  if (!lane->exists())
    return std::nullopt;
  // Ordinary and streaming stores are compared by measured times. Only large slots are timed, so
  // small ones use ordinary stores, through the caches.
  const StoreWay way = shape.isTimed() ? setup.policy.stores : StoreWay::Cached;
  return Outgoing{
      .parts = parts, .stores = {way, slots}, .lane = std::move(lane), .runs = runsOf(packed)};
}

LaneCarrier::LaneCarrier(const CarrierSetup& setup)
    : NodeCarrier(setup), packLimit_(setup.policy.packLimit) {
  for (const Outgoing& out : outgoing_)
    largest_ = std::max(largest_, partOf(out).bytes);
}

// If some part is large enough to be read in place, stores the places of all fields in places_; one
// without elements is in no part, and its place is not used. Returns false if no part is, or if a
// field is outside the arena, where no other rank can read it.
bool LaneCarrier::findPlaces(const Action& action) {
  places_.clear();
  for (int field = 0; largest_ > packLimit_ && field < action.fields(); ++field) {
    const DTensor& x = action.source(field);
    const Index place = x.localElements() > 0 ? placeInArena(x, *comm_->arena()) : 0;
    if (place < 0)
      return false;
    places_.push_back(place);
  }
  return !places_.empty();
}

void LaneCarrier::beginLanes(const Action& action) {
  const bool areInArena = findPlaces(action);
  for (Outgoing& out : outgoing_) {
    const Part& part = partOf(out);
    out.readInPlace = areInArena && part.bytes > packLimit_;
    out.posts = out.readInPlace ? std::ssize(part.fields) : part.chunks.count();
    out.posted = 0;
  }
  morePosts_ = true;
  pump(action, std::numeric_limits<Index>::max());
}

// Fills free slots, at most maxPerLane in each lane. beginLanes() fills all slots. A rank that
// waits fills one per lane and then looks for its own data again, to keep both directions going.
void LaneCarrier::pump(const Action& action, Index maxPerLane) {
  if (!morePosts_)
    return;
  morePosts_ = false;
  for (Outgoing& out : outgoing_) {
    for (Index i = 0; i < maxPerLane && out.posted < out.posts && out.lane->hasFreeSlot(); ++i)
      post(out, action);
    morePosts_ = morePosts_ || out.posted < out.posts;
  }
}

// Posts the array of the next field, or packs the next chunk.
void LaneCarrier::post(Outgoing& out, const Action& action) {
  const Index next = out.posted++;
  const int slot = out.lane->nextSlot();
  if (out.readInPlace) { // nothing is stored in the slot that could be timed
    out.stores.forget(slot);
    const int field = partOf(out).fields[static_cast<std::size_t>(next)].field;
    return out.lane->postArray(places_[static_cast<std::size_t>(field)],
                               action.source(field).strides());
  }
  out.stores.run(slot, out.lane->readSeconds(), [&](StoreWay way) {
    std::byte* const begin = out.lane->slotData();
    std::byte* end = begin;
    if (out.posts == 1) // the chunk is the whole part, whose runs are known
      return static_cast<Index>(packPart(action, partOf(out), out.runs, begin, way) - begin);
    partOf(out).visit({next, next + 1}, [&](const Region& from, const Region&) {
      end = packRegion(action.source(from.field), from, end, way);
    });
    return static_cast<Index>(end - begin);
  });
  out.lane->postPacked();
}

void LaneCarrier::awaitPosting(const Incoming& in, const Action& action) {
  WaitPolicy policy(*comm_);
  // Only a posting wakes a rank that sleeps, a free slot does not. While this rank has more to
  // post, it naps for a fixed time instead.
  const auto nap = [&](long nanoseconds) {
    if (morePosts_)
      Nap()(nanoseconds);
    else
      in.lane.sleepUntilPosting(nanoseconds);
  };
  while (!in.lane.hasPosting()) {
    pump(action, 1);
    comm_->advance();
    policy.wait([&] { return missingSenders(in); }, nap);
  }
  // Slots are also filled if there was no wait: a rank that always finds its data ready would
  // otherwise fill none until the end, while its receivers wait.
  pump(action, 1);
}

// Reads the array of each field in place. The first chunk reads the address and the last one
// releases it; the chunks exist only to let sums over many ranks proceed in step. Parts of several
// fields are read as a whole.
void LaneCarrier::readArrays(Incoming& in, const Action& action, Interval chunks,
                             const Meeting& meeting) {
  const Part& part = partOf(in);
  for (const FieldRegions& one : part.fields) {
    if (&one != &part.fields.front()) {
      awaitPosting(in, action);
      in.place = in.lane.place();
    }
    const std::byte* array = comm_->arena()->at(part.peer, in.place.array);
    part.visit(chunks, [&](const Region& from, const Region& to) {
      if (to.field == one.field)
        combineRegion(action, to, viewOf(array, in.place.strides, from, one.dims, one.elementBytes),
                      meeting);
    });
    if (chunks.end == part.chunks.count())
      in.lane.release();
  }
}

void LaneCarrier::receiveByLane(Incoming& in, const Action& action, Interval chunks,
                                const Meeting& meeting) {
  const Part& part = partOf(in);
  if (chunks.begin == 0) {
    awaitPosting(in, action);
    in.place = in.lane.place();
  }
  if (in.place.array != kPacked)
    return readArrays(in, action, chunks, meeting);
  for (Index chunk = chunks.begin; chunk < chunks.end; ++chunk) {
    if (chunk > 0)
      awaitPosting(in, action);
    const Stopwatch watch(in.lane.isTimed());
    combinePart(action, part, {chunk, chunk + 1}, in.runs, in.lane.slotData(), meeting);
    in.lane.release(watch.seconds());
  }
}

// Posts the remaining chunks, and waits until no rank reads the array, since its owner can write it
// after End. Packed chunks stay in their slots and need no wait.
void LaneCarrier::endLanes(const Action& action) {
  WaitPolicy policy(*comm_);
  const auto missing = [&] { return missingReaders(); };
  for (pump(action, 1); morePosts_; pump(action, 1)) {
    comm_->advance();
    policy.wait(missing);
  }
  for (const Outgoing& out : outgoing_)
    while (out.readInPlace && !out.lane->isDrained()) {
      comm_->advance();
      policy.wait(missing, [&](long nanoseconds) { out.lane->sleepUntilRelease(nanoseconds); });
    }
}

// The senders, for the message about a long wait, of this part and of later ones that have posted
// nothing. Parts are read in the order of incoming_, so those before it have been read.
std::string LaneCarrier::missingSenders(const Incoming& first) const {
  std::vector<int> peers;
  for (const Incoming* in = &first; in != incoming_.data() + incoming_.size(); ++in)
    if (!in->lane.hasPosting())
      peers.push_back(partOf(*in).peer);
  return ranksText(peers);
}

} // namespace tenon
