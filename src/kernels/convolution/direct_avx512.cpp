// SPDX-License-Identifier: BSD-2-Clause
#include "kernels/convolution/direct_kernels.hpp"

#ifdef TENON_HAS_AVX512

namespace tenon {

namespace {

#define TENON_TARGET __attribute__((target("avx512f,avx512dq,avx512vl,fma,tune=skylake-avx512")))
#define TENON_BYTES 64
#define TENON_SUMS 24
#define TENON_CHANNELS 8
#include "kernels/convolution/direct_kernels.inc"

} // namespace

template <class T>
const DirectKernels<T>& directKernelsAvx512() {
  return kKernels<T>;
}

template const DirectKernels<float>& directKernelsAvx512<float>();
template const DirectKernels<double>& directKernelsAvx512<double>();

} // namespace tenon

#endif
