// SPDX-License-Identifier: BSD-2-Clause
// Instantiates the CUDA kernels of movement/block_queue.cpp, which copy or add several boxes in one
// launch: nvcc compiles this file, and a functor that is not listed is a linker error. The tables
// of boxes are kernel parameters: nothing is copied to the device before a launch, and a launch
// recorded in a graph has its own table. The functors are in functors/several_blocks.hpp.
#include "kernels/cuda/launch.cuh"
#include "kernels/functors/several_blocks.hpp"

namespace tenon::device {

using namespace functors;

template void eachThreadBlock(const Stream&, Index, const CopySeveral&);
template void eachThreadBlock(const Stream&, Index, const CopyListed&);
template void eachThreadBlock(const Stream&, Index, const AddSeveral<float>&);
template void eachThreadBlock(const Stream&, Index, const AddSeveral<double>&);
template void eachThreadBlock(const Stream&, Index, const AddSeveral<std::int64_t>&);
template void eachThreadBlock(const Stream&, Index, const AddSeveral<std::int32_t>&);
template void eachElement(const Stream&, Index, const AddListed<float>&);
template void eachElement(const Stream&, Index, const AddListed<double>&);
template void eachElement(const Stream&, Index, const AddListed<std::int64_t>&);
template void eachElement(const Stream&, Index, const AddListed<std::int32_t>&);

} // namespace tenon::device
