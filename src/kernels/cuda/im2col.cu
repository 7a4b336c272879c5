// SPDX-License-Identifier: BSD-2-Clause
// Instantiates the CUDA kernels for the columns of a convolution (cuda/convolution_gemm.cpp): nvcc
// compiles this file, and a functor that is not listed is a linker error. Both functors gather (one
// thread per element of the result), so no two threads add to the same element. The functors are in
// functors/im2col.hpp.
#include "kernels/cuda/launch.cuh"
#include "kernels/functors/im2col.hpp"

namespace tenon::device {

using namespace functors;

template void eachElement(const Stream&, Index, const GatherColumns<float>&);
template void eachElement(const Stream&, Index, const GatherColumns<double>&);
template void eachElement(const Stream&, Index, const ScatterColumns<float>&);
template void eachElement(const Stream&, Index, const ScatterColumns<double>&);

} // namespace tenon::device
