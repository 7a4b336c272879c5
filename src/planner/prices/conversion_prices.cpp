// SPDX-License-Identifier: BSD-2-Clause
// Adds the prices of the steps of a conversion, each either a reduction or a move. The price of a
// reduction within a unit depends only on its ranks and bytes, and is thus the same at every
// precision of the moves.
#include "planner/prices/conversion_prices.hpp"

#include "reduction/sum_route.hpp"

namespace tenon {

ConversionPrices::ConversionPrices(const LinkRates& rates, int ranks, const GridPtr& grid)
    : rates_(rates), flows_(grid ? makeFlowTable(grid, rates) : nullptr), sums_(rates, ranks) {}

double ConversionPrices::seconds(const Layout& from, const Layout& to, Index elementBytes,
                                 Sampling sampling) {
  const auto priceOfStep = [&](const Layout& begin, const Layout& end) {
    if (const auto sum = sums_.secondsInUnit(begin, end, elementBytes))
      return *sum;
    return priceOfMove(begin, end, elementBytes, rates_, sampling, flows_.get()).seconds;
  };
  double seconds = 0;
  const Layout* at = &from;
  // Between two grids a conversion can need several intermediate layouts.
  const std::vector<Layout> stops = stopsBetween(from, to);
  for (const Layout& stop : stops) {
    seconds += cheapestSumRoute(*at, stop, elementBytes, sums_, priceOfStep).seconds;
    at = &stop;
  }
  return seconds;
}

} // namespace tenon
