// SPDX-License-Identifier: BSD-2-Clause
// Fits the rates of a machine (latency, bandwidth, flop rate, ...) to measured times of moves of
// data and of kernels (calibration.hpp).
//
// The predicted time of a move, its price, has three parts: latency, transfer and copying. For 10
// messages of 1 MB it may be 10 us + 800 us + 190 us. The fit multiplies each part by a factor, and
// if measured times are explained best with factors 1, 2, 1, the bandwidth was half as large. The
// parts are slopes of the price, not a separate formula: a price is piecewise linear in the times
// of the rates, so lengthening the times of one part by 0.1 % finds this part for the algorithm
// that is currently the cheapest.
//
// Nothing is communicated: callers pass the times of the slowest rank, and all ranks fit the same
// rates.
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

// The factors are in the order of PriceParts: latency, transfer, copying.
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

// Fits the flop rate that kernels without a measured kind have.
void fitSpeed(const std::vector<MeasuredKernel>& kernels, KernelRates& rates) {
  // The sum of (1 - f / rate)^2 over the measured rates f is least at the rate sum f^2 / sum f.
  double sumOfRates = 0, sumOfSquares = 0;
  for (const MeasuredKernel& kernel : kernels)
    if (kernel.seconds > 0) {
      const double flops = kernel.work.flops / kernel.seconds;
      sumOfRates += flops;
      sumOfSquares += flops * flops;
    }
  if (sumOfSquares > 0)
    rates.flops = sumOfSquares / sumOfRates;
}

// Fits a factor for each kind of kernel and pass: measured by predicted time.
void fitKinds(const std::vector<MeasuredKernel>& kernels, Index elementBytes, KernelRates& rates) {
  std::map<std::pair<std::string, KernelPass>, std::pair<double, double>> sums;
  KernelRates unscaled = rates;
  // A second calibration must not multiply the factors of the first.
  unscaled.scales.clear();
  for (const MeasuredKernel& kernel : kernels) {
    const double predicted = unscaled.seconds(kernel.kind, elementBytes, kernel.work);
    if (!(kernel.seconds > 0) || !(predicted > 0))
      continue;
    auto& [measuredTotal, predictedTotal] = sums[{kernel.kind, kernel.work.pass}];
    // The factor of a kind is that of its total time: long kernels must be right, and short ones
    // are noise.
    measuredTotal += kernel.seconds;
    predictedTotal += predicted;
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
