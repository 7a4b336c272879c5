// SPDX-License-Identifier: BSD-2-Clause
// Sums and norms of a distributed tensor. Local sums are pairwise in double precision, and are
// added in rank order, so the result is bitwise the same on all ranks. All calls are collective
// unless stated otherwise. The pairing <x, y> of a tensor with one in the dual layout is the
// product in which the adjoint of a conversion C is defined: <C x, y> = <x, C^T y>. norm() counts
// each element of the global tensor once, rawNorm() counts each copy: for 8 elements of value 1
// with copies on 2 ranks, they are sqrt(8) and 4.
#pragma once

#include "dtensor/dtensor.hpp"

#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace tenon {

// Throw the errors of pairing() and norm(), without communication.
void checkPaired(const DTensor& x, const DTensor& y);
void checkNormed(const DTensor& x);

// The pairing of x in a layout with y in the dual layout: the sum over all ranks of local dot
// products.
double pairing(const DTensor& x, const DTensor& y);

// The Euclidean norm of the tensor's value; copies of an element count once. Throws
// TENON_ERR_SUPPORT if the layout holds partial sums, which a conversion must reduce first.
double norm(const DTensor& x);

// The sum of the inner products of several pairs of tensors, with one exchange. The tensors of a
// pair have the same layout; copies of an element count once, and partial sums are an error as in
// norm().
using TensorPair = std::pair<const DTensor*, const DTensor*>;
double innerProduct(Communicator& comm, const std::vector<TensorPair>& pairs);

// Returns the value of rank 0 on all ranks.
double valueOfFirstRank(Communicator& comm, double value);

// The Euclidean norm of all local memory, copies included.
double rawNorm(const DTensor& x);

// The sum of all ranks' values in an order chosen by MPI, sufficient to test whether the sum is
// finite. Allocates nothing.
double sumOfRanks(Communicator& comm, double value);

// The sum of squares of all local memory of several tensors, copies included; NULL pointers are
// skipped. Waits for a device once, and allocates nothing on the host. Not collective.
double localSquares(std::span<const DTensor* const> tensors);

// The global index of the first NaN in box `in` of this rank, but not in box `butNotIn`. Not
// collective.
std::optional<std::vector<Index>> firstNaN(const DTensor& x, const Box& in, const Box& butNotIn);

// The largest absolute value of all elements of all ranks; NaN if there is a NaN.
double maxAbsolute(const DTensor& x);
// The largest absolute value of this rank's elements. Not collective.
double localMaxAbsolute(const DTensor& x);

} // namespace tenon
