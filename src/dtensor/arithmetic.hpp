// SPDX-License-Identifier: BSD-2-Clause
// Arithmetic on tensors' local arrays, of any strides and without communication.
#pragma once

#include "dtensor/dtensor.hpp"

namespace tenon {

// The address of the first element of the box; throws TENON_ERR_STATE while the array is lent for
// writing.
const void* arrayOf(const DTensor& x);

// The bytes from the lowest to the highest element of the local array.
ByteSpan spanOf(const DTensor& x);

// y <- alpha x + beta y, where both have the same local extents; x may be float32 and y float64, or
// the reverse. beta = 0 never reads y. Between spaces the host waits.
void axpby(double alpha, const DTensor& x, double beta, DTensor& y);

// y <- factor y; 0 never reads y.
void scaleArray(double factor, DTensor& y);

// y <- x
void copyLocal(const DTensor& x, DTensor& y);

// Throws TENON_ERR_DATATYPE unless an array of this type can be multiplied by the factor: integers
// only by integers.
void checkFactor(double factor, TenonDataType type, const std::string& who);

} // namespace tenon
