// SPDX-License-Identifier: BSD-2-Clause
// The seconds of conversions between layouts, by the algorithms that run: a conversion between two
// process grids can use intermediate layouts, and a conversion with partial sums is one step, or a
// reduction that is separate from the rest. Reductions across levels of a machine are priced as
// programs of several messages (reduction/sum_route.hpp), those within one unit of the innermost
// level as routes (machine/route.hpp). Plans and their reports use these prices.
#pragma once

#include "machine/price.hpp"
#include "reduction/sum_plan.hpp"

#include <memory>

namespace tenon {

// Prices conversions on the links of one machine, each pair of layouts once.
class ConversionPrices {
public:
  // Prices for a number of ranks. With a grid, most conversions on it are priced from a table of
  // flows.
  ConversionPrices(const LinkRates& rates, int ranks, const GridPtr& grid = nullptr);

  double seconds(const Layout& from, const Layout& to, Index elementBytes, Sampling sampling);
  const LinkRates& links() const noexcept { return rates_; }

private:
  const LinkRates rates_;
  std::unique_ptr<FlowTable> flows_; // none: each conversion is counted separately
  SumPrices sums_;
};

} // namespace tenon
