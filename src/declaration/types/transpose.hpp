// SPDX-License-Identifier: BSD-2-Clause
// Permuted dimensions, for the types transpose and the normalisations: dimension d of the result is
// dimension inputDims[d] of x.
#pragma once

#include "declaration/kernel/array_kernel.hpp"
#include "geometry/layout/layout.hpp"

namespace tenon {

// The layout of the result, without halos, with the same split points and split axes.
Layout permuted(const Layout& x, const std::vector<Index>& inputDims);

std::unique_ptr<ArrayKernel> makeTransposition(TenonDataType type, std::vector<Index> inputDims);

} // namespace tenon
