// SPDX-License-Identifier: BSD-2-Clause
// Prices the moves between layers (move_prices.hpp). A search requests hundreds of thousands of
// prices, so layouts are compared once, when they get their numbers, and prices are found by these.
#include "planner/prices/move_prices.hpp"

#include "planner/prices/volume_bound.hpp"

#include <algorithm>

namespace tenon {

MovePrices::MovePrices(ConversionPrices& conversions, const LinkRates& links, Index elementBytes)
    : conversions_(conversions), bestLinks_(bestLinks(links)),
      sumsByPrograms_(!links.levels.empty()), elementBytes_(elementBytes) {}

int MovePrices::numberOf(Layout layout) {
  // Thousands of layouts are requested, so they are compared in full only with those of the same
  // shape and properties.
  std::vector<int>& alike = layoutsLike_[{layout.shape(), describe(layout.properties())}];
  for (int known : alike)
    if (layouts_[known] == layout)
      return known;
  alike.push_back(static_cast<int>(layouts_.size()));
  duals_.push_back(layout.dual());
  parts_.emplace_back(layout);
  dualParts_.emplace_back(duals_.back());
  layouts_.push_back(std::move(layout));
  return alike.back();
}

void MovePrices::add(MoveEnds ends) {
  ends_.push_back(std::move(ends));
  firstLike_.push_back(static_cast<int>(std::ranges::find(ends_, ends_.back()) - ends_.begin()));
}

double MovePrices::seconds(int move, int from, int to, Precision precision) const {
  const MoveEnds& ends = ends_[move];
  const int source = ends.sources[from], target = ends.targets[to];
  if (precision == Precision::Least)
    return ends.weight * leastSeconds(ends, source, target);
  // The price depends on two layouts only, so moves with the same layouts share it. The weight
  // depends on the move.
  const std::uint64_t key =
      std::uint64_t(source) << 32 | std::uint64_t(target) << 1 | std::uint64_t(ends.hasCotangent);
  Prices& known = prices_[static_cast<std::size_t>(precision) - 1];
  const auto [entry, isNew] = known.try_emplace(key, 0.0);
  if (isNew) {
    const Sampling sampling = samplingOf(precision);
    entry->second =
        conversions_.seconds(layouts_[source], layouts_[target], elementBytes_, sampling);
    entry->second += backwardSeconds(ends, source, target, sampling);
  }
  return ends.weight * entry->second;
}

// The adjoint of the conversion a -> b is b* -> a*, and is priced like any other conversion.
double MovePrices::backwardSeconds(const MoveEnds& ends, int source, int target,
                                   Sampling sampling) const {
  return ends.hasCotangent
             ? conversions_.seconds(duals_[target], duals_[source], elementBytes_, sampling)
             : 0;
}

MoveTerms MovePrices::terms(int move, int from, int to) const {
  const MoveEnds& ends = ends_[move];
  // Both terms must add up to the price that the search used: `forward` is the total minus
  // `backward`.
  const double all = seconds(move, from, to, Precision::Close);
  const double backward = ends.weight * backwardSeconds(ends, ends.sources[from], ends.targets[to],
                                                        samplingOf(Precision::Close));
  return {.forward = all - backward, .backward = backward};
}

double MovePrices::leastSeconds(const MoveEnds& ends, int source, int target) const {
  const auto forward = parts_[source].receivedFor(parts_[target], sumsByPrograms_),
             backward = dualParts_[target].receivedFor(dualParts_[source], sumsByPrograms_);
  double seconds = leastSecondsOfMove(forward, backward, elementBytes_, bestLinks_);
  if (ends.hasCotangent)
    seconds += leastSecondsOfMove(backward, forward, elementBytes_, bestLinks_);
  return seconds;
}

} // namespace tenon
