// SPDX-License-Identifier: BSD-2-Clause
// The walks of maps along a dimension. The map and its adjoint are the same functor over different
// lists, so that there is one for each type.
#include "kernels/cuda/launch.cuh"
#include "kernels/functors/axis_map.hpp"

namespace tenon::device {

using namespace functors;

template void eachElement(const Stream&, Index, const AxisGather<float>&);
template void eachElement(const Stream&, Index, const AxisGather<double>&);

} // namespace tenon::device
