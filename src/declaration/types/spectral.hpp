// SPDX-License-Identifier: BSD-2-Clause
// The work of the steps of a spectral convolution on one rank, counting transforms as products with
// matrices, whichever method computes them.
#pragma once

#include "geometry/layout/box.hpp"

namespace tenon {

// The operations of the transform of a box [rows, rows, space...] of a field to coefficients, [..,
// modes..., 2].
double fourierFlops(const Box& field, const Box& coefficients);
// The operations of the products of [batch, in, modes..., 2] and [in, out, modes..., 2].
double modeFlops(const Box& coefficients, Index outputs);

} // namespace tenon
