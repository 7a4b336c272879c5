// SPDX-License-Identifier: BSD-2-Clause
// Which gradients are reduced together while the adjoint goes on, and in which layout. A bucket is
// a list of parameters on one grid that are copies along the same axes of it, in the order in which
// the adjoint is done with them. A plan that runs (plan/gradient_buckets.hpp) and the bytes that
// are predicted of it follow from here, on all ranks alike: from global layouts, never from what a
// rank holds.
#pragma once

#include "geometry/layout/layout.hpp"

#include <cstddef>
#include <vector>

namespace tenon {

// A gradient that is summed over processes, and the step of the adjoint after which it is complete.
struct SummedGradient {
  Layout storage;
  Index elementBytes = 4;
  std::size_t ready = 0;
};

// The numbers of the gradients of each bucket, in the order in which buckets are closed. No bucket
// has more than `bytes` on any rank, unless it has one gradient only.
std::vector<std::vector<std::size_t>> bucketsOf(const std::vector<SummedGradient>& gradients,
                                                Index bytes);

// The layout of the array in which the gradients of one bucket lie one after the other, each in its
// storage: split along the axes along which they have no copies.
Layout bucketLayout(const std::vector<Layout>& members);

} // namespace tenon
