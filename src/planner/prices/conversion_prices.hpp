// SPDX-License-Identifier: BSD-2-Clause
// The seconds of conversions as they run: via intermediate layouts between two grids, in one step
// or with reductions separated from the rest. Reductions that cross levels of a machine use their
// programs (reduction/sum_route.hpp), and those within a unit their routes. Plans and their reports
// use these prices.
#pragma once

#include "machine/price.hpp"
#include "reduction/sum_plan.hpp"

#include <memory>

namespace tenon {

class ConversionPrices {
public:
  // Prices for a number of ranks. With a grid, most conversions on it are priced from a table of
  // flows.
  ConversionPrices(const LinkRates& rates, int ranks, const GridPtr& grid = nullptr);

  double seconds(const Layout& from, const Layout& to, Index elementBytes, Looks looks);

private:
  const LinkRates rates_;
  std::unique_ptr<FlowTable> flows_; // none: each conversion is counted separately
  SumPrices sums_;
};

} // namespace tenon
