// SPDX-License-Identifier: BSD-2-Clause
// The seconds of conversions as they are run: through what lies between two grids, in one step or
// in those by which sums are parted from the rest, sums by their programs where they cross levels
// of a machine (reduction/sum_route.hpp), and within a unit by their routes. Plans and their
// reports have these prices.
#pragma once

#include "machine/price.hpp"
#include "reduction/sum_plan.hpp"

#include <memory>

namespace tenon {

class ConversionPrices {
public:
  // For so many ranks. With a grid most conversions on it are priced from a table of flows.
  ConversionPrices(const LinkRates& rates, int ranks, const GridPtr& grid = nullptr);

  double seconds(const Layout& from, const Layout& to, Index elementBytes, Looks looks);

private:
  const LinkRates rates_;
  std::unique_ptr<FlowTable> flows_; // none: each is counted for itself
  SumPrices sums_;
};

} // namespace tenon
