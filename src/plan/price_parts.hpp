// SPDX-License-Identifier: BSD-2-Clause
// Prices as sums of what latencies, bandwidths and the rest (overheads and copies) add to them, and the factors
// of these that explain best what was measured.
#pragma once

#include "machine/link.hpp"
#include "plan/least_squares.hpp"

#include <array>
#include <functional>
#include <vector>

namespace tenon {

// Of latencies with the overheads of messages, of bandwidths, and of copies.
inline constexpr int kPriceParts = 3;
using PriceParts = std::array<double, kPriceParts>;

// price: seconds by some rates. Prices are linear in times as long as no other way of the same move is cheaper, so
// that their parts are slopes.
using Price = std::function<double(const LinkRates&)>;
PriceParts partsOfPrice(const LinkRates& rates, const Price& price);
// The same of many prices at once: calls `visit` with the rates, and with those of each part's slope.
void visitSlopes(const LinkRates& rates, const std::function<void(const LinkRates&)>& visit);
double slopeOf(double seconds, double secondsBySlope);
// Times multiplied by factors.
LinkRates scaledRates(const LinkRates& rates, const PriceParts& factors);

using MeasuredMove = MeasuredSum<kPriceParts>;

// Least squares of relative errors, by factors of at least 0. Of parts that nothing measured has they are 1.
PriceParts fittedFactors(const std::vector<MeasuredMove>& moves);

} // namespace tenon
