// SPDX-License-Identifier: BSD-2-Clause
// A conversion that sums over grid axes and does more besides, such as P,S0 -> B,S1, in steps: its
// sums, and the rest.
//
// One exchange sends each contribution to where its sum is wanted, so that between nodes it floods
// the links as a sum by one exchange does. In steps each sum runs its own program, before the rest
// or after it: what comes first decides how much the other moves. The adjoint of a sum, which
// copies, is parted likewise.
#pragma once

#include "machine/route.hpp"
#include "reduction/sum_plan.hpp"

#include <functional>
#include <vector>

namespace tenon {

// The ways to go from one layout to the other in such steps, each as the layouts between; at most
// two sums are parted from the rest. Where all ranks get the sum, each may also take a share of it
// through the rest. None if the conversion does nothing but sum, or sums nothing.
std::vector<std::vector<Layout>> waysToPartSums(const Layout& from, const Layout& to);

struct SumRoute {
  Route steps; // of one exchange each unless it sums; with their prices
  double seconds = 0;
};
using PriceOfMove = std::function<double(const Layout& from, const Layout& to)>;

// The cheapest of these ways, and of one step. A step costs what it costs as a move, or as a sum by
// its program if that is less.
SumRoute cheapestSumRoute(const Layout& from, const Layout& to, Index elementBytes,
                          SumPrices& prices, const PriceOfMove& move);

} // namespace tenon
