// SPDX-License-Identifier: BSD-2-Clause
// Whether the local arrays of two tensors have a cell in common.
#pragma once

#include "dtensor/dtensor.hpp"

namespace tenon {

// Exact for arrays of the same strides, such as two boxes of one array or two components of an
// interleaved one; for others true only where one array's first cell is the other's.
bool shareCells(const DTensor& x, const DTensor& y);

} // namespace tenon
