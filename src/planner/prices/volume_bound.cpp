// SPDX-License-Identifier: BSD-2-Clause
// A lower bound of the price of a conversion, from the elements that the rank at position 0 must
// receive by any algorithm (volume_bound.hpp). If x has 12 x 8 elements split by rows over 4 ranks,
// and y is split by columns, rank 0 has 3 x 8 and needs 12 x 2 elements, of which it has 3 x 2:
//
//   received    24 - 6 = 18 elements, in at least 3 messages, from the other owners of the columns
//
// Each algorithm of price.hpp sends the missing elements, and in a reduction the partial sums of
// the other ranks. Where algorithms differ, the bound is the least of them. Sets of grid axes are
// bit masks (AxisMask).
#include "planner/prices/volume_bound.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tenon {

namespace {

// Whether some element of a dimension is in no part's box.
bool leavesGaps(const Layout& layout, int dim) {
  std::vector<Interval> boxes;
  for (int part = 0; part < layout.parts(dim); ++part)
    if (const Interval box = layout.box(dim, part); !box.empty())
      boxes.push_back(box);
  std::ranges::sort(boxes, {}, &Interval::begin);
  Index covered = 0;
  for (const Interval& box : boxes)
    if (box.begin <= covered)
      covered = std::max(covered, box.end);
  return covered < layout.shape()[dim];
}

} // namespace

FirstPart::FirstPart(const Layout& layout)
    : grid_(&layout.grid()), rank_(layout.grid().rank(0)), dims_(layout.ndim()),
      most_(layout.mostOwnedElements()), hasHalos_(layout.hasHalos()) {
  for (int d = 0; d < dims_; ++d) {
    boxes_[d] = intersect(layout.box(d, layout.part(0, d)), {0, layout.shape()[d]});
    held_ *= boxes_[d].size();
    Index largest = 1;
    for (int part = 0; part < layout.parts(d); ++part)
      largest = std::max({largest, layout.owned(d, part).size(), layout.box(d, part).size()});
    perRow_[d] = 1 / static_cast<double>(largest);
    hasPartialHalos_ |= layout.halo(d) && layout.halo(d)->isPartial;
    hasGaps_ |= layout.halo(d) && leavesGaps(layout, d);
  }
  for (int axis = 0; axis < std::min(layout.grid().axes(), kMaxMaskedAxes); ++axis)
    if (!layout.grid().isTrivial(axis)) {
      const AxisMask bit = AxisMask(1) << axis;
      const Property property = layout.property(axis);
      broadcast_ |= property.isBroadcast() ? bit : 0;
      partial_ |= property.isPartial() ? bit : 0;
      if (property.isShard())
        splitBy_[property.dim] |= bit;
    }
}

// The number of elements that the rank has in both layouts.
Index FirstPart::sharedWith(const FirstPart& to) const {
  Index shared = 1;
  for (int d = 0; d < dims_; ++d)
    shared *= intersect(boxes_[d], to.boxes_[d]).size();
  return shared;
}

// The minimum number of parts that own the elements of the rank afterwards; copies and partial sums
// are counted once.
double FirstPart::ownersOf(const FirstPart& to) const {
  constexpr double kRounding = 1e-9; // else ceil() makes 4 of a rounded 3.0000000001
  double owners = 1;
  for (int d = 0; d < dims_; ++d)
    owners *=
        std::max(1.0, std::ceil(static_cast<double>(to.boxes_[d].size()) * perRow_[d] - kRounding));
  return owners;
}

// A collective is possible if all axes whose properties differ change in the same way.
void FirstPart::addCollective(const FirstPart& to, Received& received) const {
  if (grid_ != to.grid_ || hasHalos_ || to.hasHalos_)
    return;
  AxisMask same = (broadcast_ & to.broadcast_) | (partial_ & to.partial_);
  AxisMask all = broadcast_ | partial_ | to.broadcast_ | to.partial_;
  for (int d = 0; d < dims_; ++d) {
    same |= splitBy_[d] & to.splitBy_[d];
    all |= splitBy_[d] | to.splitBy_[d];
  }
  const AxisMask changed = all & ~same;
  const auto changes = [&](AxisMask before, AxisMask after) {
    return (changed & ~(before & after)) == 0;
  };
  if (changes(partial_, to.broadcast_))
    received.collective = CollectiveKind::AllReduce;
  for (int d = 0; d < dims_; ++d)
    if (changes(splitBy_[d], to.broadcast_))
      received.collective = CollectiveKind::AllGather;
    else if (changes(partial_, to.splitBy_[d]))
      received.collective = CollectiveKind::ReduceScatter;
  if (!received.collective)
    return;
  received.ranks = static_cast<int>(extentsOf(changed));
  received.whole = std::max(most_, to.most_);
}

// The number of ranks along these axes: the product of their extents.
double FirstPart::extentsOf(AxisMask axes) const {
  double extents = 1;
  for (; axes != 0; axes &= axes - 1)
    extents *= grid_->extent(std::countr_zero(axes));
  return extents;
}

FirstPart::Received FirstPart::receivedFor(const FirstPart& to, bool sumsByPrograms) const {
  const bool isOneGrid = grid_ == to.grid_;
  // A rank that has partial sums afterwards can use zeros, so nothing is known of its traffic; the
  // same holds for grids that begin with different ranks.
  if (rank_ != to.rank_ || to.hasPartialHalos_ || (hasPartialHalos_ && hasGaps_) ||
      (isOneGrid ? (to.partial_ & ~partial_) != 0 : to.partial_ != 0))
    return {};
  const auto needed = static_cast<double>(to.held_);
  const AxisMask summed = isOneGrid ? partial_ & ~to.partial_ : partial_;
  Received received;
  if (summed == 0) {
    received.elements = needed - static_cast<double>(sharedWith(to));
    received.messages = received.elements > 0 ? std::max(1.0, ownersOf(to) - 1) : 0;
  } else if (isOneGrid) {
    // In one exchange, each needed element comes as a partial sum from each other rank along the
    // summed axes.
    const double contributions = extentsOf(summed), others = (contributions - 1) / contributions;
    received.elements = (contributions - 1) * needed;
    received.messages = contributions * ownersOf(to) - 1;
    if (sumsByPrograms) {
      // The first member of a program scatters and gathers, or adds in a tree, which needs at least
      // the same traffic. It does so with the elements that it has before or after the rest of the
      // conversion.
      const bool isScattered =
          std::ranges::any_of(to.splitBy_, [&](AxisMask split) { return (summed & split) != 0; });
      const auto held = static_cast<double>(held_), both = std::min(held, needed);
      const double program = isScattered ? others * held : needed - both + 2 * others * both;
      received.elements = std::min(received.elements, program);
    }
  } else {
    // The axes of two grids cannot be compared. It is only certain that at least one other rank has
    // a partial sum of each needed element.
    received.elements = needed;
    received.messages = 1;
  }
  if (received.messages > 0)
    addCollective(to, received);
  // An all-reduce can be split into shares: each rank sums one share and then gathers the others,
  // and receives (1 - 1 / ranks) of the elements in each of the two steps.
  if (received.collective == CollectiveKind::AllReduce)
    received.elements = std::min(received.elements, 2 * (1 - 1.0 / received.ranks) * needed);
  // A program can gather as well, wherever a collective can. Groups of 2, 3 and 4 ranks need 1, 2
  // and 3 messages: no program needs fewer than the logarithm.
  if (sumsByPrograms && (summed != 0 || received.collective))
    received.messages =
        std::min(received.messages, std::log2(summed != 0 ? extentsOf(summed) : received.ranks));
  else if (sumsByPrograms && isOneGrid && (to.broadcast_ & ~broadcast_) != 0)
    // Copies along an axis can be made by the adjoint of a program, in one message at least.
    received.messages = std::min(received.messages, 1.0);
  return received;
}

LinkRates bestLinks(const LinkRates& rates) {
  LinkRates best = rates;
  best.levels.clear();
  for (const LevelRates& level : rates.levels) {
    best.latency = std::min(best.latency, level.latency);
    best.bandwidth = std::max(best.bandwidth, level.bandwidth);
  }
  return best;
}

double leastSecondsOfMove(const FirstPart::Received& received, const FirstPart::Received& sent,
                          Index elementBytes, const LinkRates& best) {
  const double messages = std::max(received.messages, sent.messages);
  if (messages == 0)
    return 0;
  const double exchange = best.latency + messages * best.overhead +
                          static_cast<double>(elementBytes) *
                              (std::max(received.elements, sent.elements) / best.bandwidth +
                               (received.elements + sent.elements) / best.copyBandwidth);
  if (!received.collective)
    return exchange;
  return std::min(exchange, priceOfCollective(*received.collective, received.ranks,
                                              received.whole * elementBytes, best));
}

} // namespace tenon
