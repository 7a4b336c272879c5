// SPDX-License-Identifier: BSD-2-Clause
// Launches a kernel that does nothing, to measure the time of a launch (gpu_launch.hpp).
#include "bench/gpu_launch.hpp"

#include "kernels/cuda/launch.cuh"

namespace tenon::bench {

namespace {

struct Nothing {
  __device__ void onDevice(const GridThread&) const {}
  void onHost(unsigned, unsigned, unsigned) const {}
};

} // namespace

void launchNothing(const Stream& stream) {
  device::launch(stream, 1, Nothing{});
}

} // namespace tenon::bench
