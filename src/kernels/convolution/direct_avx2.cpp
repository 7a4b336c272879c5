// SPDX-License-Identifier: BSD-2-Clause
// The loops of direct_kernels.inc compiled for AVX2 and FMA: 12 of 16 registers hold sums, the rest
// operands. The target attribute is on each function rather than the file, to keep other code of
// this file, such as inline functions of headers, free of instructions that the processor can lack.
// directKernelsAvx2() is declared in direct_kernels.hpp.
#include "kernels/convolution/direct_kernels.hpp"

#ifdef TENON_HAS_AVX2

namespace tenon {

namespace {

#define TENON_TARGET __attribute__((target("avx2,fma")))
#define TENON_BYTES 32
#define TENON_SUMS 12
#define TENON_CHANNELS 4
#include "kernels/convolution/direct_kernels.inc"

} // namespace

template <class T>
const DirectKernels<T>& directKernelsAvx2() {
  return kKernels<T>;
}

template const DirectKernels<float>& directKernelsAvx2<float>();
template const DirectKernels<double>& directKernelsAvx2<double>();

} // namespace tenon

#endif
