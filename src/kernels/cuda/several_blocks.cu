// SPDX-License-Identifier: BSD-2-Clause
// The kernels of movement/block_queue.cpp. Their tables are parameters, so that nothing is copied
// to the device before a launch, and a recorded one keeps its own.
#include "kernels/cuda/launch.cuh"
#include "kernels/functors/several_blocks.hpp"

namespace tenon::device {

using namespace functors;

template void eachBlock(const Stream&, Index, const CopySeveral&);
template void eachBlock(const Stream&, Index, const AddSeveral<float>&);
template void eachBlock(const Stream&, Index, const AddSeveral<double>&);
template void eachBlock(const Stream&, Index, const AddSeveral<std::int64_t>&);

} // namespace tenon::device
