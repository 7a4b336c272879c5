// SPDX-License-Identifier: BSD-2-Clause
// Predicts the seconds of a conversion between two layouts (conversion_prices.hpp), for example of
// a tensor split by rows to one split by columns. A conversion between two process grids has
// intermediate layouts (stops). Each step between two stops is either one move, an exchange of
// messages, or a reduction of partial sums and a move; the cheapest way is the price, and prices of
// steps are added.
//
// A reduction within a unit of the innermost level of the machine depends only on its ranks and
// bytes. Its price is thus the same at every precision (Sampling) of the moves.
#include "compile/prices/conversion_prices.hpp"

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
  const Layout* current = &from;
  // Between two grids a conversion can need several intermediate layouts.
  const std::vector<Layout> stops = stopsBetween(from, to);
  for (const Layout& stop : stops) {
    seconds += cheapestSumRoute(*current, stop, elementBytes, sums_, priceOfStep).seconds;
    current = &stop;
  }
  return seconds;
}

} // namespace tenon
