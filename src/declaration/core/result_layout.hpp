// SPDX-License-Identifier: BSD-2-Clause
// Adapts an output layout that the user set once to the shapes of other batches.
#pragma once

#include "geometry/layout/layout.hpp"

namespace tenon {

// A layout like `pattern` for a tensor of this shape: the same grid, properties and order of axes,
// and the same split points and halos in dimensions of equal extent; other dimensions are split
// evenly. Throws TENON_ERR_SHAPE, naming `who`, if the numbers of dimensions differ, and
// TENON_ERR_LAYOUT if a dimension of another extent has a halo.
Layout layoutLike(const Layout& pattern, const Shape& shape, const std::string& who);

// `layout` with the split points of `other` in each dimension of equal extent that is split by the
// same axes of the same grid in both.
Layout withCutsOf(const Layout& other, const Layout& layout);

} // namespace tenon
