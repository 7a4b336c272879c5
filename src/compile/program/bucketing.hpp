// SPDX-License-Identifier: BSD-2-Clause
// Chooses the gradients that are reduced together, and the layout of their array. A bucket is a
// list of parameters on one grid with copies along the same axes, in the order in which the adjoint
// completes their gradients. The buckets of plans and of optimizers
// (layer/core/gradient_bucket.hpp) and the prediction of a plan's memory call these functions. They
// use only global layouts, never the data of a rank, so all ranks agree.
#pragma once

#include "geometry/layout/layout.hpp"
#include "sys/memory/memory.hpp"

#include <cstddef>
#include <vector>

namespace tenon {

// A gradient that is reduced over processes; `ready` is the step of the adjoint that completes it.
struct SummedGradient {
  Layout storage;
  Index elementBytes = 4;
  std::size_t ready = 0;
  Space space = Space::Host;
};

// The indices of the gradients of each bucket, in the order in which buckets are closed. A bucket
// has at most `bytes` on any rank, unless it has a single gradient.
std::vector<std::vector<std::size_t>> bucketsOf(const std::vector<SummedGradient>& gradients,
                                                Index bytes);

// The layout of the array in which the gradients of one bucket are stored one after the other, each
// in its storage layout: split along the axes without copies.
Layout bucketLayout(const std::vector<Layout>& members);

} // namespace tenon
