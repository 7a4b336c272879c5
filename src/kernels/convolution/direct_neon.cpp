// SPDX-License-Identifier: BSD-2-Clause
// The loops of direct convolution for 64-bit Arm, in vectors of 16 bytes. The 32 registers hold 20
// sums beside the weights and inputs of a step; with 24 sums the compiler spills.
// directKernelsNeon() is declared in direct_kernels.hpp.
#include "kernels/convolution/direct_kernels.hpp"

#ifdef TENON_HAS_NEON

namespace tenon {

namespace {

#define TENON_TARGET // every 64-bit Arm has NEON
#define TENON_BYTES 16
#define TENON_SUMS 20
#define TENON_CHANNELS 4
#include "kernels/convolution/direct_kernels.inc"

} // namespace

template <class T>
const DirectKernels<T>& directKernelsNeon() {
  return kKernels<T>;
}

template const DirectKernels<float>& directKernelsNeon<float>();
template const DirectKernels<double>& directKernelsNeon<double>();

} // namespace tenon

#endif
