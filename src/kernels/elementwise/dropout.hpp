// SPDX-License-Identifier: BSD-2-Clause
// The random mask of dropout: each element becomes 0 with the probability `rate`, or is multiplied
// by 1 / (1 - rate). The random number of an element depends on (seed, stream, global index) alone,
// so a mask is independent of the partition among ranks, and derivatives draw it again. Instead of
// a mask, one counter per draw is stored, from which (seed, stream + counter) follows.
#pragma once

#include "kernels/base/context.hpp"

namespace tenon {

struct DropoutMask {
  // stream: the first random stream of the layer, a hash of the layer's position in the network.
  // Each draw has its own stream.
  std::uint64_t seed, stream;
  double rate;
};

// Value of the counter that means that nothing was dropped: y = x.
constexpr std::uint64_t kNoDraw = ~std::uint64_t(0);

// y = 0 if the random number of the element is less than the rate, else x / (1 - rate), for a
// contiguous box: element i has the global index first + i . strides, where the last stride is 1.
// The random stream is mask.stream + *counter, which gives each draw different numbers.
template <class T>
void applyDropout(KernelContext& context, const DropoutMask& mask, const std::uint64_t* counter,
                  int rank, const Index* extent, Index first, const Index* strides, const T* x,
                  T* y);

// *counter = value, in the memory space of the context, on the device ordered with its kernels.
void keepCounter(KernelContext& context, std::uint64_t value, std::uint64_t* counter);

} // namespace tenon
