// SPDX-License-Identifier: BSD-2-Clause
#include "plan/price_parts.hpp"

#include <algorithm>

namespace tenon {

namespace {

constexpr double kStep = 1e-3;              // of a rate, for slopes
constexpr double kLeastOfABandwidth = 1e-6; // factor of its times, so that it stays finite

} // namespace

LinkRates scaledRates(const LinkRates& rates, const PriceParts& factors) {
  LinkRates scaled = rates;
  scaled.latency *= factors[0];
  scaled.overhead *= factors[0];
  const double transfers = std::max(factors[1], kLeastOfABandwidth);
  scaled.bandwidth /= transfers;
  scaled.copyBandwidth /= std::max(factors[2], kLeastOfABandwidth);
  for (LevelRates& level : scaled.levels) {
    level.latency *= factors[0];
    level.bandwidth /= transfers;
  }
  return scaled;
}

void visitSlopes(const LinkRates& rates, const std::function<void(const LinkRates&)>& visit) {
  visit(rates);
  for (int i = 0; i < kPriceParts; ++i) {
    PriceParts factors = {1, 1, 1};
    factors[i] += kStep;
    visit(scaledRates(rates, factors));
  }
}

double slopeOf(double seconds, double secondsBySlope) {
  return std::max(0., (secondsBySlope - seconds) / kStep);
}

PriceParts partsOfPrice(const LinkRates& rates, const Price& price) {
  std::vector<double> seconds;
  visitSlopes(rates, [&](const LinkRates& some) { seconds.push_back(price(some)); });
  PriceParts parts{};
  for (int i = 0; i < kPriceParts; ++i)
    parts[i] = slopeOf(seconds[0], seconds[1 + i]);
  return parts;
}

PriceParts fittedFactors(const std::vector<MeasuredMove>& moves) {
  PriceParts factors = leastSquares(moves).value_or(PriceParts{1, 1, 1});
  const auto isMeasured = [&](int part) {
    return std::ranges::any_of(
        moves, [&](const MeasuredMove& move) { return move.seconds > 0 && move.parts[part] > 0; });
  };
  for (int part = 0; part < kPriceParts; ++part)
    if (!isMeasured(part))
      factors[part] = 1;
  return factors;
}

} // namespace tenon
