// SPDX-License-Identifier: BSD-2-Clause
// Layouts of results that a user gives once and that are used for any batch.
#pragma once

#include "geometry/layout/layout.hpp"

namespace tenon {

// The layout that lies as `pattern` does, for a tensor of this shape. Grid, properties and the
// order of the axes are the pattern's, and so are cuts and halos of each dimension of equal extent;
// other dimensions are cut in balance. Throws TENON_ERR_SHAPE, naming `who`, if the numbers of
// dimensions differ, and TENON_ERR_LAYOUT if a dimension of another extent has a halo.
Layout layoutLike(const Layout& pattern, const Shape& shape, const std::string& who);

// The layout with the cuts of `other` in each dimension of equal extent that the same axes of the
// same grid split in both.
Layout withCutsOf(const Layout& other, const Layout& layout);

} // namespace tenon
