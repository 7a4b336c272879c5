// SPDX-License-Identifier: BSD-2-Clause
// Strided boxes scaled and added: y <- alpha x + beta y, where x may be of another type than y.
#pragma once

#include "kernels/context.hpp"

#include <type_traits>

namespace tenon {

// y[i . ys] = alpha x[i . xs] + beta y[i . ys] for every i in the box `extent`, computed in the
// wider of the two types and rounded once. With beta = 0 y is never read; alpha = 1 copies or adds
// bit by bit. Rank 0 to 8; x and y must not overlap. For float and double in any combination, and
// for std::int64_t.
template <class S, class T>
void blockAxpby(KernelContext& context, int rank, const Index* extent,
                std::common_type_t<S, T> alpha, const S* x, const Index* xs,
                std::common_type_t<S, T> beta, T* y, const Index* ys);

// y[i . ys] *= factor; with 0 y is never read.
template <class T>
void blockScale(KernelContext& context, int rank, const Index* extent, T factor, T* y,
                const Index* ys);

} // namespace tenon
