// SPDX-License-Identifier: BSD-2-Clause
// The two halves of an action of a ScheduleExecutor.
#include "dtensor/arithmetic.hpp"
#include "kernels/reduce.hpp"
#include "linop/region_run.hpp"
#include "linop/schedule_executor.hpp"

#include <limits>

namespace tenon {

namespace {

// Max of integers has no infinity to start from.
template <class T>
constexpr T lowestOf() {
  using Limits = std::numeric_limits<T>;
  return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
}

} // namespace

void ScheduleExecutor::begin(const Action& action) {
  Direction& direction = directionOf(action.sense);
  const auto& binding = direction.binding;
  const bool fits =
      binding && action.isPlain() && action.x == binding->x.get() && action.y == binding->y.get() &&
      arrayOf(*action.x) == binding->xArray && arrayOf(*action.y) == binding->yArray &&
      action.x->strides() == binding->xStrides && action.y->strides() == binding->yStrides;
  direction.bound = fits ? &*binding : nullptr;
  visitDataType(action.x->dataType(), [&]<class T>(T) { beginTyped<T>(direction, action); });
}

void ScheduleExecutor::end(const Action& action, Combine combine) {
  visitDataType(action.x->dataType(),
                [&]<class T>(T) { endTyped<T>(directionOf(action.sense), action, combine); });
}

template <class T>
void ScheduleExecutor::beginTyped(Direction& direction, const Action& action) {
  Exchange& exchange = direction.bound ? *direction.bound->exchange : *direction.exchange;
  exchange.startReceives();
  beginLanes<T>(direction, action);
  for (const Part& part : direction.packs) {
    if (part.message < 0)
      continue;
    if (!direction.bound || !direction.bound->sendsDirect[part.message]) {
      T* cells = reinterpret_cast<T*>(direction.sendBuffer + part.offset);
      const bool cached = part.cells * size_ < kLargePart || storeWay_ == StoreWay::Cached;
      const StoreWay way = cached ? StoreWay::Cached : StoreWay::Streaming;
      for (const Region& region : part.from)
        cells = packRegion(*action.x, region, cells, way);
    }
    exchange.startSend(part.message);
  }
  direction.delay.start();
}

// Whether x and y see the region of each through the same addresses.
bool ScheduleExecutor::sameCells(const Region& from, const DTensor& x, const Region& to,
                                 const DTensor& y) {
  const Index size = dataTypeSize(x.dataType());
  Index offset = 0;
  for (int d = 0; d < x.rank(); ++d) {
    offset += to.begin[d] * y.strides()[d] - from.begin[d] * x.strides()[d];
    if (from.extent[d] > 1 && from.step[d] * x.strides()[d] != to.step[d] * y.strides()[d])
      return false;
  }
  return static_cast<const std::byte*>(arrayOf(x)) ==
         static_cast<const std::byte*>(arrayOf(y)) + offset * size;
}

// Where in y the cells are that are already there, if the action is in place; else NULL.
const Region* ScheduleExecutor::keptRegion(const Direction& direction, const Action& action) {
  if (direction.own < 0 || !action.x->isPlaced() || !action.y->isPlaced())
    return nullptr;
  const Part& own = direction.unpacks[direction.own];
  for (std::size_t i = 0; i < own.to.size(); ++i)
    if (sameCells(own.from[i], *action.x, own.to[i], *action.y))
      return &own.to[i];
  return nullptr;
}

bool ScheduleExecutor::isInPlace(const Action& action) const {
  return keptRegion(directionOf(action.sense), action) != nullptr;
}

// Zeroes all of y but one region, slab by slab: what is below and above it in one dimension, and
// within its bounds in all dimensions before.
template <class T>
void ScheduleExecutor::clearAround(const Region& kept, DTensor& y) {
  Region rest;
  std::copy(y.extent().begin(), y.extent().end(), rest.extent.begin());
  rest.step.fill(1);
  for (int d = 0; d < y.rank(); ++d) {
    const Index keptEnd = kept.begin[d] + kept.extent[d];
    Region below = rest, above = rest;
    below.extent[d] = kept.begin[d];
    above.begin[d] = keptEnd;
    above.extent[d] = y.extent()[d] - keptEnd;
    scaleRegion<T>(0, below, y);
    scaleRegion<T>(0, above, y);
    rest.begin[d] = kept.begin[d];
    rest.extent[d] = kept.extent[d];
  }
}

template <class T>
void ScheduleExecutor::scaleRegion(double factor, const Region& region, DTensor& y) {
  const auto view = viewOf(y.mutableData<T>(), y.strides(), region, y.rank());
  blockScale(y.rank(), region.extent.data(), static_cast<T>(factor), view.first, view.steps.data());
}

// Scales what no part brings beta to; returns whether the first part can bring it.
template <class T>
bool ScheduleExecutor::prepareTarget(const Direction& direction, const Action& action,
                                     const Region* kept, Combine combine) {
  DTensor& y = *action.y;
  if (combine == Combine::Max) {
    fillBlock(y.rank(), y.extent().data(), lowestOf<T>(), y.mutableData<T>(), y.strides().data());
    return false;
  }
  if (!direction.sums) {
    for (const Region& region : direction.zeros)
      scaleRegion<T>(action.beta, region, y);
    for (std::size_t i = 0; !kept && i < direction.callers.size(); ++i)
      scaleRegion<T>(action.beta, direction.callers[i], y);
    return true;
  }
  if (kept) {
    clearAround<T>(*kept, y);
    return false;
  }
  if (!direction.unpacks.empty() && direction.unpacks.front().coversTarget)
    return true;
  blockScale(y.rank(), y.extent().data(), static_cast<T>(action.beta), y.mutableData<T>(),
             y.strides().data());
  return false;
}

template <class T>
void ScheduleExecutor::endTyped(Direction& direction, const Action& action, Combine combine) {
  direction.delay.wait();
  open(direction);
  action.y->changed(); // where all arrives in the array, nothing else tells
  const Region* kept = keptRegion(direction, action);
  // Where each cell gets one value it brings beta along.
  bool sole = prepareTarget<T>(direction, action, kept, combine);
  if (direction.sameTarget && !kept) {
    sumChunkwise<T>(direction, action, combine, sole);
  } else {
    for (const Part& part : direction.unpacks) {
      unpack<T>(direction, part, action, part.isOwn() ? kept : nullptr,
                {sole ? Combine::Copy : combine, sole ? action.beta : 1});
      sole = sole && !direction.sums;
    }
  }
  finishLanes<T>(direction, action);
  (direction.bound ? direction.bound->exchange : direction.exchange)->waitSends();
}

template <class T>
void ScheduleExecutor::unpack(Direction& direction, const Part& part, const Action& action,
                              const Region* kept, const Meeting& meeting) {
  if (part.lane >= 0)
    return receive<T>(direction, part, action, meeting);
  const DTensor& x = *action.x;
  if (part.isOwn()) {
    for (std::size_t i = 0; i < part.to.size(); ++i)
      if (&part.to[i] != kept)
        combineRegion<T>(action, part.to[i],
                         viewOf(x.data<T>(), x.strides(), part.from[i], x.rank()), meeting);
    return;
  }
  (direction.bound ? direction.bound->exchange : direction.exchange)->waitReceive(part.message);
  if (direction.bound && direction.bound->receivesDirect[part.message])
    return;
  unpackCells(action, part, reinterpret_cast<const T*>(direction.receiveBuffer + part.offset),
              meeting);
}

} // namespace tenon
