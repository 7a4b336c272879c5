// SPDX-License-Identifier: BSD-2-Clause
// Instantiates the CUDA kernel of perceptrons whose layers are narrow
// (products/column_mlp_device.cpp). The functor is in functors/column_mlp.hpp.
#include "kernels/cuda/launch.cuh"
#include "kernels/functors/column_mlp.hpp"

namespace tenon::device {

using namespace functors;

template void eachThreadBlock(const Stream&, Index, const ColumnMlpTiles<float>&);
template void eachThreadBlock(const Stream&, Index, const ColumnMlpTiles<double>&);

} // namespace tenon::device
