// SPDX-License-Identifier: BSD-2-Clause
// Takes prices apart into what latencies, bandwidths and copies add to them, and fits rates to
// measured times. The parts are slopes of the price, not a formula of their own: a price is
// piecewise linear in the times of the rates, so that a small step finds the parts of whichever way
// of a move is the cheapest now.
#include "plan/calibration.hpp"

#include <algorithm>

namespace tenon {

namespace {

// The relative step of a rate for slopes: small enough not to change the way of a move, and large
// enough for the digits of a difference.
constexpr double kStep = 1e-3;
// The least factor of the times of a bandwidth, so that it stays finite.
constexpr double kMinOfABandwidth = 1e-6;

} // namespace

LinkRates scaledRates(const LinkRates& rates, const PriceParts& factors) {
  LinkRates scaled = rates;
  scaled.latency *= factors[0];
  scaled.overhead *= factors[0];
  // Factors are those of times, and a bandwidth is the inverse of one.
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
  // A larger rate of times cannot make a move cheaper; what is below 0 is rounding.
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
  // What no move depends on can have any factor, and keeps what it had.
  for (int part = 0; part < kPriceParts; ++part)
    if (!isMeasured(part))
      factors[part] = 1;
  return factors;
}

namespace {

void fitSpeed(const std::vector<MeasuredKernel>& kernels, KernelRates& rates) {
  // The sum of (1 - f / rate)^2 over the measured rates f is least at the rate that is sum f^2 /
  // sum f.
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
    // A kind's factor is that of its total: what takes long has to be right, and short kernels are
    // noise.
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
      // Relative errors alone would fit many short moves and miss the sum, which is what a plan is
      // chosen by.
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
