// SPDX-License-Identifier: BSD-2-Clause
// Operation counts of a spectral convolution on one rank, from which plans predict its time.
// Transforms are counted as matrix products, also if an FFT computes them. Coefficients have real
// and imaginary part in their last dimension.
#pragma once

#include "geometry/layout/box.hpp"

namespace tenon {

// Operations of the transform of a box [rows, rows, space...] of a field to a box [.., modes..., 2]
// of coefficients.
double fourierFlops(const Box& field, const Box& coefficients);
// Operations of the products of [batch, in, modes..., 2] and [in, out, modes..., 2].
double modeFlops(const Box& coefficients, Index outputs);

} // namespace tenon
