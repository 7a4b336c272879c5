// SPDX-License-Identifier: BSD-2-Clause
// Routes of conversions that sum over grid axes and also redistribute, such as P,S0 -> B,S1: sums
// by their own programs, and the rest by exchanges.
//
// Two such routes are P,S0 -> B,S0 -> B,S1 and P,S0 -> P,S1 -> B,S1 (P: each rank along an axis has
// a partial sum; B: copies; S: the axis splits a dimension).
//
// In one exchange, each contribution is sent to the rank that needs its sum, which overloads the
// links between nodes. In separate steps each sum runs its program, before or after the rest; the
// order determines how much data the rest moves. An adjoint that copies is treated in the same way.
#pragma once

#include "machine/route.hpp"
#include "reduction/sum_plan.hpp"

#include <functional>
#include <vector>

namespace tenon {

// Returns the possible routes, each as the layouts between the two; at most two sums are separated.
// If all ranks get the sum, the rest can also be done on shares of it. Returns none if the
// conversion only sums, or does not sum.
std::vector<std::vector<Layout>> pathsWithSeparateSums(const Layout& from, const Layout& to);

// False if neither the conversion nor its adjoint sums over an axis, as a halo exchange: a quick
// test of properties.
bool mayHaveSums(const Layout& from, const Layout& to);

// A route with its predicted time.
struct SumRoute {
  Route steps; // one exchange each, unless it sums; with prices
  double seconds = 0;
};
using PriceOfMove = std::function<double(const Layout& from, const Layout& to)>;

// Returns the cheapest of these routes and of the direct conversion. The price of a step is that of
// an exchange, or of a sum by its program if that is lower.
SumRoute cheapestSumRoute(const Layout& from, const Layout& to, Index elementBytes,
                          SumPrices& prices, const PriceOfMove& move);

} // namespace tenon
