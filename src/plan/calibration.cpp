// SPDX-License-Identifier: BSD-2-Clause
// Splits prices into the shares of latencies, bandwidths and copies, and fits rates to measured
// times. The shares are slopes of the price, not a separate formula: a price is piecewise linear in
// the times of the rates, so a small step finds the shares of the algorithm that is currently the
// cheapest.
#include "plan/calibration.hpp"

#include <algorithm>

namespace tenon {

namespace {

// Relative step of a rate for slopes: small enough not to change the algorithm of a move, and large
// enough for the digits of a difference.
constexpr double kStep = 1e-3;
// Least factor of the times of a bandwidth, which keeps the bandwidth finite.
constexpr double kMinOfABandwidth = 1e-6;

} // namespace

LinkRates scaledRates(const LinkRates& rates, const PriceParts& factors) {
  LinkRates scaled = rates;
  scaled.latency *= factors[0];
  scaled.overhead *= factors[0];
  // Factors apply to times, and a bandwidth is the inverse of a time.
  const double transfers = std::max(factors[1], kMinOfABandwidth);
  scaled.bandwidth /= transfers;
  scaled.copyBandwidth /= std::max(factors[2], kMinOfABandwidth);
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
  // A larger time of a rate cannot make a move cheaper; a negative difference is rounding.
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
  // A part on which no measured move depends is not determined and keeps its rate.
  for (int part = 0; part < kPriceParts; ++part)
    if (!isMeasured(part))
      factors[part] = 1;
  return factors;
}

namespace {

void fitSpeed(const std::vector<MeasuredKernel>& kernels, KernelRates& rates) {
  // The sum of (1 - f / rate)^2 over the measured rates f is least at the rate sum f^2 / sum f.
  double f = 0, ff = 0;
  for (const MeasuredKernel& kernel : kernels)
    if (kernel.seconds > 0) {
      const double flops = kernel.work.flops / kernel.seconds;
      f += flops;
      ff += flops * flops;
    }
  if (ff > 0)
    rates.flops = ff / f;
}

void fitKinds(const std::vector<MeasuredKernel>& kernels, Index elementBytes, KernelRates& rates) {
  std::map<std::pair<std::string, KernelPass>, std::pair<double, double>> sums;
  KernelRates unscaled = rates;
  // A second calibration must not multiply the factors of the first.
  unscaled.scales.clear();
  for (const MeasuredKernel& kernel : kernels) {
    const double predicted = unscaled.seconds(kernel.kind, elementBytes, kernel.work);
    if (!(kernel.seconds > 0) || !(predicted > 0))
      continue;
    auto& [measured, all] = sums[{kernel.kind, kernel.work.pass}];
    // The factor of a kind is that of its total time: long kernels must be right, and short ones
    // are noise.
    measured += kernel.seconds;
    all += predicted;
  }
  for (const auto& [kind, sum] : sums)
    rates.scales[kind] = sum.first / sum.second;
}

LinkRates fittedLinks(const std::vector<MeasuredMove>& moves, const LinkRates& links) {
  PriceParts factors = fittedFactors(moves);
  double measured = 0, predicted = 0;
  for (const MeasuredMove& move : moves) {
    measured += move.seconds;
    for (int part = 0; part < kPriceParts; ++part)
      predicted += factors[part] * move.parts[part];
  }
  if (measured > 0 && predicted > 0)
    for (double& factor : factors)
      // Relative errors alone would fit many short moves and miss their sum, by which a plan is
      // chosen.
      factor *= measured / predicted;
  return scaledRates(links, factors);
}

} // namespace

OwnRates fittedRates(const std::vector<MeasuredKernel>& kernels,
                     const std::vector<MeasuredMove>& moves, Index elementBytes, OwnRates rates) {
  fitSpeed(kernels, rates.kernels);
  fitKinds(kernels, elementBytes, rates.kernels);
  rates.links = fittedLinks(moves, rates.links);
  return rates;
}

} // namespace tenon
