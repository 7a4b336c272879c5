// SPDX-License-Identifier: BSD-2-Clause
// Strided boxes multiplied and summed: y <- y + alpha a x, where each of the three may stand still in
// some dimensions (stride 0). So it scales by channel, takes the dot product of each channel, and sums
// over any dimensions.
#pragma once

#include "kernels/context.hpp"

namespace tenon {

// y[i . ys] += alpha a[i . as] x[i . xs] for every i in the box `extent`; a = null stands for ones.
// Rank 1 to 8. y overlaps neither a nor x. Where y stands still along the last dimension with more than
// one cell, that is summed pairwise in double. For float, double and std::int64_t.
template <class T>
void blockMultiplyAdd(KernelContext& context, int rank, const Index* extent, T alpha, const T* a,
                      const Index* as, const T* x, const Index* xs, T* y, const Index* ys);

} // namespace tenon
