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

// Throws TENON_ERR_DATATYPE unless axpby() accepts these types: x can have any type if y has real
// numbers, but integers hold neither real numbers nor, in int32, those of int64.
void checkConvertible(TenonDataType x, TenonDataType y, const char* what);

// y <- alpha x + beta y. Both have the same local extents; the types can differ as
// checkConvertible() says, and int64 in int32 is allowed if the caller knows that the results fit.
// y is not read if beta is 0. Synchronous if the tensors are in different spaces.
void axpby(double alpha, const DTensor& x, double beta, DTensor& y);

// y <- factor y. y is not read if the factor is 0.
void scaleArray(double factor, DTensor& y);

// y <- x
void copyLocal(const DTensor& x, DTensor& y);

// Throws TENON_ERR_DATATYPE unless an array of this type can be multiplied by the factor: integers
// only by integers that their type can hold.
void checkFactor(double factor, TenonDataType type, const std::string& who);

} // namespace tenon
