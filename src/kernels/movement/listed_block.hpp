// SPDX-License-Identifier: BSD-2-Clause
// Boxes whose elements are at listed positions along one dimension: packed, unpacked and added.
// Example: the rows [nodes, channels] of a field on a mesh that another rank needs. With the list
// positions = {7, 2, 5}, packing computes
//     buffer[0,:] = field[7,:],  buffer[1,:] = field[2,:],  buffer[2,:] = field[5,:],
// and the owner adds received contributions by the same list in the opposite direction.
#pragma once

#include "kernels/base/context.hpp"
#include "kernels/functors/listed.hpp"

namespace tenon {

// y[.., i, ..] = alpha w[i] x[.., i, ..] + beta y[.., i, ..] for the box `extent`. Index i of
// dimension `dim` has the offset from.offset(i) in x and to.offset(i) in y; xs and ys are the
// strides of all other dimensions. weights can be null (ones). No element of y is listed twice. If
// beta = 0, y is not read; alpha = 1 without weights copies or adds bit by bit. Lists are in the
// memory space of the context. Instantiated for float, double, and integers without weights.
// The rank is 1 to 8.
template <class T>
void listedAxpby(KernelContext& context, int rank, const Index* extent, int dim, T alpha,
                 const double* weights, const T* x, const Index* xs, const ListedPlaces& from,
                 T beta, T* y, const Index* ys, const ListedPlaces& to);

} // namespace tenon
