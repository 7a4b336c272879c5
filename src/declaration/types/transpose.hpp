// SPDX-License-Identifier: BSD-2-Clause
// Layouts of tensors whose dimensions stand in another order.
#pragma once

#include "geometry/layout/layout.hpp"

namespace tenon {

// Dimension d is dimension from[d] of x, and splits and cuts go with their dimensions. Without
// halos.
Layout permuted(const Layout& x, const std::vector<Index>& from);

} // namespace tenon
