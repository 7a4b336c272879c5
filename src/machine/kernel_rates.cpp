// SPDX-License-Identifier: BSD-2-Clause
// Predicts how long a kernel takes: by the measured times of its kind and pass if there are any,
// otherwise by the roofline. A correction factor applies to the whole prediction, including the
// call.
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
  const auto times = std::ranges::find_if(measured, [&](const KernelTimes& entry) {
    return entry.kind == kind && entry.pass == work.pass && entry.elementBytes == elementBytes;
  });
  const double workSeconds = times != measured.end()
                                 ? times->seconds(work)
                                 : std::max(work.flops / flops, work.bytes / memory);
  const auto scale = scales.find({kind, work.pass});
  return (call + workSeconds) * (scale == scales.end() ? 1 : scale->second);
}

} // namespace tenon
