// SPDX-License-Identifier: BSD-2-Clause
// The two halves of an action of a ScheduleExecutor.
#include "dtensor/arithmetic.hpp"
#include "kernels/block_axpby.hpp"
#include "kernels/reduce.hpp"
#include "linop/schedule_executor.hpp"

#include <limits>

namespace tenon {

namespace {

// The array seen through a region: its first cell and its strides.
template <class T, class Region>
T* firstCell(T* array, const Strides& strides, const Region& region, int rank, Index* steps) {
  for (int d = 0; d < rank; ++d) {
    array += region.begin[d] * strides[d];
    steps[d] = region.step[d] * strides[d];
  }
  return array;
}

template <class Region>
void packedStrides(const Region& region, int rank, Index* strides) {
  Index stride = 1;
  for (int d = rank - 1; d >= 0; --d) {
    strides[d] = stride;
    stride *= region.extent[d];
  }
}

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
  for (const Part& part : direction.packs) {
    if (part.message < 0)
      continue;
    if (!direction.bound || !direction.bound->sendsDirect[part.message])
      pack<T>(direction, part, *action.x);
    exchange.startSend(part.message);
  }
}

template <class T>
void ScheduleExecutor::pack(const Direction& direction, const Part& part, const DTensor& x) {
  std::array<Index, kMaxRank> near{}, far{};
  T* buffer = reinterpret_cast<T*>(direction.sendBuffer + part.offset);
  for (const Region& region : part.from) {
    const T* first = firstCell(x.data<T>(), x.strides(), region, x.rank(), near.data());
    packedStrides(region, x.rank(), far.data());
    blockCombine(Combine::Copy, x.rank(), region.extent.data(), first, near.data(), buffer,
                 far.data());
    buffer += region.cells;
  }
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
const ScheduleExecutor::Region* ScheduleExecutor::keptRegion(const Direction& direction,
                                                             const Action& action) {
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
  std::array<Index, kMaxRank> steps{};
  T* first = firstCell(y.mutableData<T>(), y.strides(), region, y.rank(), steps.data());
  blockScale(y.rank(), region.extent.data(), static_cast<T>(factor), first, steps.data());
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
  Exchange& exchange = direction.bound ? *direction.bound->exchange : *direction.exchange;
  action.y->changed(); // where all arrives in the array, nothing else tells
  const Region* kept = keptRegion(direction, action);
  // Where each cell gets one value it brings beta along.
  bool sole = prepareTarget<T>(direction, action, kept, combine);
  for (const Part& part : direction.unpacks) {
    if (part.message >= 0)
      exchange.waitReceive(part.message);
    const bool received =
        part.message >= 0 && direction.bound && direction.bound->receivesDirect[part.message];
    if (!received)
      unpack<T>(direction, part, action, part.message < 0 ? kept : nullptr,
                sole ? Combine::Copy : combine, sole ? action.beta : 1);
    sole = sole && !direction.sums;
  }
  exchange.waitSends();
}

template <class T>
void ScheduleExecutor::unpack(const Direction& direction, const Part& part, const Action& action,
                              const Region* kept, Combine combine, double beta) {
  const DTensor& x = *action.x;
  DTensor& y = *action.y;
  const int rank = y.rank();
  std::array<Index, kMaxRank> near{}, far{};
  const T* buffer = reinterpret_cast<const T*>(direction.receiveBuffer + part.offset);
  for (std::size_t i = 0; i < part.to.size(); ++i) {
    const Region& region = part.to[i];
    if (&region == kept)
      continue;
    T* cell = firstCell(y.mutableData<T>(), y.strides(), region, rank, near.data());
    const T* source = buffer;
    if (part.message < 0)
      source = firstCell(x.data<T>(), x.strides(), part.from[i], rank, far.data());
    else
      packedStrides(region, rank, far.data());
    if (combine == Combine::Max)
      blockCombine(combine, rank, region.extent.data(), source, far.data(), cell, near.data());
    else
      blockAxpby(rank, region.extent.data(), static_cast<T>(action.alpha), source, far.data(),
                 static_cast<T>(beta), cell, near.data());
    buffer += region.cells;
  }
}

} // namespace tenon
