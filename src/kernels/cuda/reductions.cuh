// SPDX-License-Identifier: BSD-2-Clause
// Lists of walks by element and of reductions.
#pragma once

#include "kernels/cuda/launch.cuh"
#include "kernels/functors/reduce.hpp"

#define TENON_ELEMENTS(...) template void eachElement(const Stream&, Index, const __VA_ARGS__&);
#define TENON_GROUPS(Op, ...)                                                                      \
  template void eachElement(const Stream&, Index, const GroupLoops<Op, __VA_ARGS__>&);             \
  template void eachBlock(const Stream&, Index, const GroupTrees<Op, __VA_ARGS__>&);
#define TENON_ENDS(Op, Wide, ...)                                                                  \
  template void eachElement(const Stream&, Index, const GroupEnds<Op, Wide, __VA_ARGS__>&);
