// SPDX-License-Identifier: BSD-2-Clause
// Predicts how long a kernel takes: by the measured times of its kind and pass where there are any,
// by the roofline otherwise. A scale corrects the whole prediction, the overhead of the call
// included.
#include "machine/kernel_rates.hpp"

#include <algorithm>

namespace tenon {

const char* kernelPassName(KernelPass pass) {
  static constexpr const char* kNames[] = {"apply", "adjoint", "parameters"};
  return kNames[static_cast<int>(pass)];
}

double KernelRates::seconds(const std::string& kind, Index elementBytes,
                            const KernelWork& work) const {
  if (work.flops == 0 && work.bytes == 0)
    return 0;
  const auto known = std::ranges::find_if(measured, [&](const KernelTimes& one) {
    return one.kind == kind && one.pass == work.pass && one.elementBytes == elementBytes;
  });
  const double took = known != measured.end() ? known->seconds(work)
                                              : std::max(work.flops / flops, work.bytes / memory);
  const auto scale = scales.find({kind, work.pass});
  return (call + took) * (scale == scales.end() ? 1 : scale->second);
}

} // namespace tenon
