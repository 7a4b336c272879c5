// SPDX-License-Identifier: BSD-2-Clause
// The random mask of dropout. An element's number is drawn by (seed, stream, global index), so a
// mask does not depend on the partition, and the derivatives draw it again instead of keeping it.
#pragma once

#include "kernels/base/context.hpp"

namespace tenon {

struct DropoutMask {
  std::uint64_t seed, stream;
  double rate;
};

// In place of the number of a draw: nothing was dropped, y = x.
constexpr std::uint64_t kNoDraw = ~std::uint64_t(0);

// y = 0 where the element's number is below the rate, else x / (1 - rate), for a contiguous box:
// the element i has the global index first + i . strides, where the last stride is 1. The stream of
// the mask is mask.stream + *counter, so that each draw has its own.
template <class T>
void applyDropout(KernelContext& context, const DropoutMask& mask, const std::uint64_t* counter,
                  int rank, const Index* extent, Index first, const Index* strides, const T* x,
                  T* y);

// *counter = value
void keepCounter(KernelContext& context, std::uint64_t value, std::uint64_t* counter);

} // namespace tenon
