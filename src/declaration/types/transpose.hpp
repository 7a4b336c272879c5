// SPDX-License-Identifier: BSD-2-Clause
// Layouts of tensors with permuted dimensions, for the types transpose and the normalisations.
#pragma once

#include "geometry/layout/layout.hpp"

namespace tenon {

// The layout, without halos, of a tensor whose dimension d is dimension inputDims[d] of x, with the
// same split points and split axes.
Layout permuted(const Layout& x, const std::vector<Index>& inputDims);

} // namespace tenon
