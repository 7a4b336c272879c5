// SPDX-License-Identifier: BSD-2-Clause
// The local kernel that permutes dimensions.
#pragma once

#include "layer/core/local_kernel.hpp"

namespace tenon {

// Dimension d of the output is dimension inputDims[d] of the input.
std::unique_ptr<LocalKernel> makeTransposition(std::vector<Index> inputDims);

} // namespace tenon
