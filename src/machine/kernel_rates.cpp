// SPDX-License-Identifier: BSD-2-Clause
#include "machine/kernel_rates.hpp"

#include <algorithm>
#include <cmath>

namespace tenon {

const char* kernelPassName(KernelPass pass) {
  return pass == KernelPass::Apply ? "apply" : "adjoint";
}

double KernelCurve::secondsOfByte(double flops) const {
  const auto next = std::ranges::upper_bound(points, flops, {}, &Point::flops);
  if (next == points.begin())
    return 1 / next->bandwidth;
  const Point& before = next[-1];
  if (before.flops == 0)
    return 1 / before.bandwidth;
  if (next == points.end())
    return flops / before.flops / before.bandwidth;
  const double share = std::log(flops / before.flops) / std::log(next->flops / before.flops);
  return std::pow(next->bandwidth / before.bandwidth, -share) / before.bandwidth;
}

double KernelRates::seconds(const std::string& layer, KernelPass pass, Index cellBytes,
                            const KernelWork& work) const {
  if (work.flops == 0 && work.bytes == 0)
    return 0;
  const auto curve = std::ranges::find_if(curves, [&](const KernelCurve& one) {
    return one.layer == layer && one.pass == pass && one.cellBytes == cellBytes;
  });
  const double roof = curve != curves.end() && work.bytes > 0
                          ? work.bytes * curve->secondsOfByte(work.flops / work.bytes)
                          : std::max(work.flops / flops, work.bytes / memory);
  const auto scale = scales.find({layer, pass});
  return (call + roof) * (scale == scales.end() ? 1 : scale->second);
}

} // namespace tenon
