// SPDX-License-Identifier: BSD-2-Clause
// Boxes whose elements lie at listed places along one dimension: rows of a mesh's fields, packed,
// unpacked and added.
#pragma once

#include "kernels/base/context.hpp"
#include "kernels/functors/listed.hpp"

namespace tenon {

// y[.., i, ..] = alpha w[i] x[.., i, ..] + beta y[.., i, ..] over the box `extent`, where index i
// of dimension `dim` lies at from.offset(i) in x and at to.offset(i) in y; the strides of all other
// dimensions are xs and ys. weights may be null, for ones. No two elements of y are the same. With
// beta = 0 y is never read; alpha = 1 without weights copies or adds bit by bit. Lists are in the
// space of the context. For float, double and std::int64_t, the last without weights. Rank 1 to 8.
template <class T>
void listedAxpby(KernelContext& context, int rank, const Index* extent, int dim, T alpha,
                 const double* weights, const T* x, const Index* xs, const ListedPlaces& from,
                 T beta, T* y, const Index* ys, const ListedPlaces& to);

} // namespace tenon
