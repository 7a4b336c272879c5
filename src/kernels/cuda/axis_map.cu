// SPDX-License-Identifier: BSD-2-Clause
#include "kernels/cuda/launch.cuh"
#include "kernels/functors/axis_map.hpp"

namespace tenon::device {

using namespace functors;

template void eachElement(const Stream&, Index, const AxisGather<float>&);
template void eachElement(const Stream&, Index, const AxisGather<double>&);

} // namespace tenon::device
