// SPDX-License-Identifier: BSD-2-Clause
// Whether the local arrays of two tensors have memory in common.
#pragma once

#include "dtensor/dtensor.hpp"

namespace tenon {

// Whether a byte belongs to a cell of both: exact for any strides and types. Two components of an interleaved array, or
// two of its boxes, share none. Nothing is allocated.
bool shareCells(const DTensor& x, const DTensor& y);

// Whether each cell of x is the same cell of y.
bool areSameCells(const DTensor& x, const DTensor& y);

} // namespace tenon
