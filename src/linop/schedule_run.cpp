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

// Scales the target, unless the first part can do that on the way; returns whether it can.
template <class T>
bool ScheduleExecutor::prepareTarget(const Direction& direction, const Action& action,
                                     Combine combine) {
  const bool firstCovers =
      direction.sums && !direction.unpacks.empty() && direction.unpacks.front().coversTarget;
  if (direction.fillsAll || firstCovers)
    return firstCovers;
  DTensor& y = *action.y;
  T* target = y.mutableData<T>();
  if (combine == Combine::Max)
    fillBlock(y.rank(), y.extent().data(), lowestOf<T>(), target, y.strides().data());
  else
    blockScale(y.rank(), y.extent().data(), static_cast<T>(action.beta), target,
               y.strides().data());
  return false;
}

template <class T>
void ScheduleExecutor::endTyped(Direction& direction, const Action& action, Combine combine) {
  Exchange& exchange = direction.bound ? *direction.bound->exchange : *direction.exchange;
  action.y->changed(); // where all arrives in the array, nothing else tells
  bool first = prepareTarget<T>(direction, action, combine);
  for (const Part& part : direction.unpacks) {
    if (part.message >= 0)
      exchange.waitReceive(part.message);
    const bool received =
        part.message >= 0 && direction.bound && direction.bound->receivesDirect[part.message];
    // Where each cell gets one value it brings beta along; zeroed cells may be overwritten.
    const bool sole = direction.fillsAll || first || (!direction.sums && action.beta == 0);
    const Combine op = sole ? Combine::Copy : combine;
    if (!received)
      unpack<T>(direction, part, action, op, sole ? action.beta : 1);
    first = false;
  }
  exchange.waitSends();
}

template <class T>
void ScheduleExecutor::unpack(const Direction& direction, const Part& part, const Action& action,
                              Combine combine, double beta) {
  const DTensor& x = *action.x;
  DTensor& y = *action.y;
  const int rank = y.rank();
  std::array<Index, kMaxRank> near{}, far{};
  const T* buffer = reinterpret_cast<const T*>(direction.receiveBuffer + part.offset);
  for (std::size_t i = 0; i < part.to.size(); ++i) {
    const Region& region = part.to[i];
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
