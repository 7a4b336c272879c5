// SPDX-License-Identifier: BSD-2-Clause
// Instantiates the CUDA kernels of rows/axis_map.cpp (linear maps along one dimension, such as
// interpolation): nvcc compiles this file, and a functor that is not listed is a linker error. A
// map and its adjoint are the same functor with different lists, so one instance per type is
// enough. The functors are in functors/axis_map.hpp.
#include "kernels/cuda/launch.cuh"
#include "kernels/functors/axis_map.hpp"

namespace tenon::device {

using namespace functors;

template void eachElement(const Stream&, Index, const AxisGather<float>&);
template void eachElement(const Stream&, Index, const AxisGather<double>&);

} // namespace tenon::device
