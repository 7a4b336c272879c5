// SPDX-License-Identifier: BSD-2-Clause
#include "plan/calibration.hpp"

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

namespace {

void fitSpeed(const std::vector<MeasuredKernel>& kernels, KernelRates& rates) {
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

void fitKinds(const std::vector<MeasuredKernel>& kernels, Index cellBytes, KernelRates& rates) {
  std::map<std::pair<std::string, KernelPass>, std::pair<double, double>> sums;
  KernelRates unscaled = rates;
  unscaled.scales.clear();
  for (const MeasuredKernel& kernel : kernels) {
    const double predicted = unscaled.seconds(kernel.kind, cellBytes, kernel.work);
    if (!(kernel.seconds > 0) || !(predicted > 0))
      continue;
    auto& [measured, all] = sums[{kernel.kind, kernel.work.pass}];
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
      factor *= measured / predicted;
  return scaledRates(links, factors);
}

} // namespace

OwnRates fittedRates(const std::vector<MeasuredKernel>& kernels,
                     const std::vector<MeasuredMove>& moves, Index cellBytes, OwnRates rates) {
  fitSpeed(kernels, rates.kernels);
  fitKinds(kernels, cellBytes, rates.kernels);
  rates.links = fittedLinks(moves, rates.links);
  return rates;
}

} // namespace tenon
