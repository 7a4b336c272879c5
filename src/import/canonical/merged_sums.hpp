// SPDX-License-Identifier: BSD-2-Clause
// Sums over points to which the dimensions of space were merged, as sums over space.
#pragma once

#include "import/canonical/model_builder.hpp"

namespace tenon {

// Rewrites the values of a finished graph:
//   reduction over the last dimension of x [n,c,h w], made of [n,c,h,w], or of what is computed of
//   it element by element, such as squares of the distances from the mean
//     a reduction over h and w
//   product of such a matrix [n,c,h w] with a column [n,h w,1], or with a row from the other side
//     weights [n,1,h,w] times the field, and the sum over h and w
//   softmax over h w, of these weights, or where the dimensions are separated again
//     exp, and the maximum and the sum over h and w
// If a field is split in its last dimension of space, a rank's part of a merged dimension is no
// interval, and the field is redistributed to be merged. For a sum over space it stays where it is.
void separateMergedSums(ModelBuilder& builder);

} // namespace tenon
