// SPDX-License-Identifier: BSD-2-Clause
#include "plan/calibration.hpp"

#include <algorithm>

namespace tenon {

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
