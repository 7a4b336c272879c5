// SPDX-License-Identifier: BSD-2-Clause
// Parts through lanes. Whoever waits for a posting keeps filling his own lanes meanwhile, so that
// all ranks advance.
#include "dtensor/arithmetic.hpp"
#include "linop/region_run.hpp"
#include "linop/schedule_executor.hpp"
#include "sys/log.hpp"
#include "sys/stopwatch.hpp"

#include <limits>
#include <memory>

namespace tenon {

namespace {

// Where the first cell lies, or -1 unless the peers see all cells.
Index placeInArena(const DTensor& x, const SharedArena& arena) {
  const ByteSpan span = spanOf(x);
  const std::optional<Index> place = arena.placeOf(span.begin, span.bytes);
  return place ? *place + span.toFirst : -1;
}

} // namespace

// Of this part's lane and the later ones.
std::string ScheduleExecutor::missingSenders(const Direction& direction, const Incoming& from) {
  std::vector<int> peers;
  for (const Incoming* in = &from; in != std::to_address(direction.incoming.end()); ++in)
    if (in->lane && !in->lane->hasPosting())
      peers.push_back(direction.unpacks[in->part].peer);
  return ranksText(peers);
}

std::string ScheduleExecutor::missingReaders(const Direction& direction) {
  std::vector<int> peers;
  for (const Outgoing& out : direction.outgoing)
    if (out.lane && (out.posted < out.posts || (out.inPlaceRead && !out.lane->isDrained())))
      peers.push_back(direction.packs[out.part].peer);
  return ranksText(peers);
}

template <class T>
void ScheduleExecutor::beginLanes(Direction& direction, const Action& action) {
  if (direction.outgoing.empty() && direction.incoming.empty())
    return;
  if (!direction.announced)
    announce(direction);
  for (Incoming& in : direction.incoming)
    if (in.message)
      in.message->startReceives();
  const DTensor& x = *action.x;
  direction.place = direction.largest > packLimit_ ? placeInArena(x, *arena_) : -1;
  for (Outgoing& out : direction.outgoing) {
    if (!out.lane)
      continue;
    const Part& part = direction.packs[out.part];
    const Index bytes = part.cells * size_;
    out.inPlaceRead = direction.place >= 0 && bytes > packLimit_;
    out.posts = out.inPlaceRead ? 1 : out.chunks.count();
    out.posted = 0;
    logMessage(bytes);
  }
  direction.morePosts = true;
  pump<T>(direction, x, std::numeric_limits<Index>::max());
}

// Fills free slots, at most so many of each lane.
template <class T>
void ScheduleExecutor::pump(Direction& direction, const DTensor& x, Index mostOfEach) {
  if (!direction.morePosts)
    return;
  direction.morePosts = false;
  for (Outgoing& out : direction.outgoing) {
    if (!out.lane)
      continue;
    for (Index i = 0; i < mostOfEach && out.posted < out.posts && out.lane->hasFreeSlot(); ++i)
      post<T>(direction, out, x);
    direction.morePosts = direction.morePosts || out.posted < out.posts;
  }
}

template <class T>
void ScheduleExecutor::post(Direction& direction, Outgoing& out, const DTensor& x) {
  const Index chunk = out.posted++;
  if (out.inPlaceRead) {
    out.stores.forget(out.lane->nextSlot());
    return out.lane->postArray(direction.place, x.strides());
  }
  const Part& part = direction.packs[out.part];
  out.stores.run(out.lane->nextSlot(), out.lane->readSeconds(), [&](StoreWay way) {
    T* cells = reinterpret_cast<T*>(out.lane->slotData());
    const T* const begin = cells;
    out.chunks.visit(part, chunk, [&](const Region& from, const Region&) {
      cells = packRegion(x, from, cells, way);
    });
    return static_cast<Index>(sizeof(T)) * (cells - begin);
  });
  out.lane->postPacked();
}

template <class T>
void ScheduleExecutor::awaitPosting(Direction& direction, Incoming& in, const Action& action) {
  Patience patience(*comm_);
  while (!in.lane->hasPosting()) {
    pump<T>(direction, *action.x, 1);
    patience.wait([&] { return missingSenders(direction, in); });
  }
  pump<T>(direction, *action.x, 1);
}

// A chunk of a part; of one that is read in place the first brings the place, and the last releases.
template <class T>
void ScheduleExecutor::receiveChunk(Direction& direction, Incoming& in, Index chunk,
                                    const Action& action, const Meeting& meeting) {
  const Part& part = direction.unpacks[in.part];
  if (chunk == 0 || in.place.array == kPacked)
    awaitPosting<T>(direction, in, action);
  if (chunk == 0)
    in.place = in.lane->place();
  const bool packed = in.place.array == kPacked;
  const T* cells = reinterpret_cast<const T*>(packed ? in.lane->slotData()
                                                     : arena_->at(part.peer, in.place.array));
  const Stopwatch watch(packed && in.lane->isTimed());
  in.chunks.visit(part, chunk, [&](const Region& from, const Region& to) {
    combineRegion<T>(action, to,
                     packed ? packedView(cells, to, rank_)
                            : viewOf(cells, in.place.strides, from, rank_),
                     meeting);
    if (packed)
      cells += to.cells;
  });
  if (packed || chunk + 1 == in.chunks.count())
    in.lane->release(watch.seconds());
}

template <class T>
void ScheduleExecutor::receive(Direction& direction, const Part& part, const Action& action,
                               const Meeting& meeting) {
  Incoming& in = direction.incoming[part.lane];
  if (in.message) {
    in.message->waitReceive(0);
    return unpackCells(action, part, in.buffer.data<const T>(), meeting);
  }
  awaitPosting<T>(direction, in, action);
  in.place = in.lane->place();
  if (in.place.array == kPacked) {
    for (Index chunk = 0; chunk < in.chunks.count(); ++chunk)
      receiveChunk<T>(direction, in, chunk, action, meeting);
    return;
  }
  const T* array = reinterpret_cast<const T*>(arena_->at(part.peer, in.place.array));
  for (std::size_t i = 0; i < part.to.size(); ++i)
    combineRegion<T>(action, part.to[i], viewOf(array, in.place.strides, part.from[i], rank_),
                     meeting);
  in.lane->release();
}

// All contributions to a few cells, then to the next: one pass over the target instead of one for
// each rank.
template <class T>
void ScheduleExecutor::sumChunkwise(Direction& direction, const Action& action, Combine combine,
                                    bool sole) {
  const DTensor& x = *action.x;
  const Chunks& chunks = direction.incoming.front().chunks;
  for (Index chunk = 0; chunk < chunks.count(); ++chunk) {
    bool first = sole;
    for (const Part& part : direction.unpacks) {
      const Meeting meeting{first ? Combine::Copy : combine, first ? action.beta : 1};
      first = false;
      if (!part.isOwn())
        receiveChunk<T>(direction, direction.incoming[part.lane], chunk, action, meeting);
      else
        chunks.visit(part, chunk, [&](const Region& from, const Region& to) {
          combineRegion<T>(action, to, viewOf(x.data<T>(), x.strides(), from, rank_), meeting);
        });
    }
  }
}

// Posts what is left, and waits until nobody reads the array any more.
template <class T>
void ScheduleExecutor::finishLanes(Direction& direction, const Action& action) {
  Patience patience(*comm_);
  const auto missing = [&] { return missingReaders(direction); };
  for (pump<T>(direction, *action.x, 1); direction.morePosts; pump<T>(direction, *action.x, 1))
    patience.wait(missing);
  for (const Outgoing& out : direction.outgoing)
    while (out.inPlaceRead && !out.lane->isDrained())
      patience.wait(missing);
}

#define TENON_INSTANTIATE(T)                                                                       \
  template void ScheduleExecutor::beginLanes<T>(Direction&, const Action&);                        \
  template void ScheduleExecutor::receive<T>(Direction&, const Part&, const Action&,               \
                                             const Meeting&);                                      \
  template void ScheduleExecutor::sumChunkwise<T>(Direction&, const Action&, Combine, bool);       \
  template void ScheduleExecutor::finishLanes<T>(Direction&, const Action&);
TENON_INSTANTIATE(float)
TENON_INSTANTIATE(double)
TENON_INSTANTIATE(std::int64_t)
#undef TENON_INSTANTIATE

} // namespace tenon
