// SPDX-License-Identifier: BSD-2-Clause
// The loops of direct_kernels.inc compiled for AVX-512: 24 of 32 registers hold sums, the rest
// operands. The target attribute is on each function rather than the file, to keep other code of
// this file, such as inline functions of headers, free of instructions that the processor can lack.
// directKernelsAvx512() is declared in direct_kernels.hpp.
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
