// SPDX-License-Identifier: BSD-2-Clause
// The host's walk over an array [outer, n, inner] by the kernels along its middle dimension
// (softmax.cpp, cross_entropy.cpp): up to kTogether adjacent elements of the inner dimension are
// processed together, so memory is read in order for every dimension.
#pragma once

#include "kernels/base/context.hpp"
#include "kernels/rows/axis_shape.hpp"

#include <algorithm>

namespace tenon {

inline constexpr Index kExponentialCost = 8; // cost of an exponential, in elements moved
inline constexpr Index kTogether = 64;       // elements of the inner dimension, whose sums fit the
                                             // first-level cache

// A run of the inner dimension: its offsets in x and in an array of sums, and its length.
struct Run {
  Index x, s, count;
};

// Calls body(run) for all runs, on several threads. Element k along the dimension has the offsets
// run.x + k inner + i, for 0 <= i < count.
template <class Body>
void forEachRun(KernelContext& context, const AxisShape& shape, Index cost, const Body& body) {
  const Index runs = (shape.inner + kTogether - 1) / kTogether;
  parallelRanges(context.threads(), shape.outer * runs,
                 cost * shape.n * std::min(shape.inner, kTogether), [=](Index begin, Index end) {
                   for (Index r = begin; r < end; ++r) {
                     const Index o = r / runs, i = r % runs * kTogether;
                     body(Run{.x = o * shape.n * shape.inner + i,
                              .s = o * shape.inner + i,
                              .count = std::min(kTogether, shape.inner - i)});
                   }
                 });
}

} // namespace tenon
