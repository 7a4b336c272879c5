// SPDX-License-Identifier: BSD-2-Clause
// Arithmetic on the local arrays of tensors, with any strides and without communication: each rank
// computes on all elements of its box, halos included. On the device the kernels are only queued,
// unless stated otherwise.
#pragma once

#include "dtensor/dtensor.hpp"

namespace tenon {

// The address of the first element of the box. Throws TENON_ERR_STATE while the array is in use for
// writing.
inline const void* arrayOf(const DTensor& x) {
  return x.readAddress();
}

// The bytes from the lowest to the highest element of the local array.
ByteSpan spanOf(const DTensor& x);

// y <- alpha x + beta y. Both have the same local extents; one can be float32 and the other
// float64. y is not read if beta is 0. Synchronous if the tensors are in different spaces.
void axpby(double alpha, const DTensor& x, double beta, DTensor& y);

// y <- factor y. y is not read if the factor is 0.
void scaleArray(double factor, DTensor& y);

// y <- x
void copyLocal(const DTensor& x, DTensor& y);

// Throws TENON_ERR_DATATYPE unless an array of this type can be multiplied by the factor: integers
// only by integers.
void checkFactor(double factor, TenonDataType type, const std::string& who);

} // namespace tenon
