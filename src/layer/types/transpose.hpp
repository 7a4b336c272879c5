// SPDX-License-Identifier: BSD-2-Clause
// The kernel of another order of dimensions.
#pragma once

#include "layer/core/local_kernel.hpp"

namespace tenon {

// Dimension d of the output is dimension from[d] of the input.
std::unique_ptr<LocalKernel> makeTransposition(std::vector<Index> from);

} // namespace tenon
