// SPDX-License-Identifier: BSD-2-Clause
// The work of the parts of a spectral convolution on one rank, of each transform as products with matrices,
// whichever method computes it.
#pragma once

#include "geometry/box.hpp"

namespace tenon {

// Of the transform of the cells of a box [rows, rows, space...] to coefficients, [.., modes..., 2].
double fourierFlops(const Box& field, const Box& coefficients);
// Of the products [batch, in, modes..., 2] by [in, out, modes..., 2].
double modeFlops(const Box& coefficients, Index outputs);

} // namespace tenon
