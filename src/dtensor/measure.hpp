// SPDX-License-Identifier: BSD-2-Clause
// Sums over a distributed tensor. Local sums run pairwise in double, the ranks' sums are added in
// rank order, so every rank gets the same bits. All calls are collective unless they say otherwise.
#pragma once

#include "dtensor/dtensor.hpp"

#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace tenon {

// Throw what pairing() or norm() would throw, without communication.
void checkPaired(const DTensor& x, const DTensor& y);
void checkNormed(const DTensor& x);

// The pairing of x in a layout with y in its dual: the sum over all ranks of local dot products.
double pairing(const DTensor& x, const DTensor& y);

// The Euclidean norm of the tensor's value, where copies of an element count once. Throws
// TENON_ERR_SUPPORT if the layout holds partial sums, whose value is known only once a conversion
// has summed them.
double norm(const DTensor& x);

// The sum of the inner products of pairs of tensors in one exchange. The tensors of a pair have the
// same layout; copies of an element count once, and partial sums are an error as for norm().
using TensorPair = std::pair<const DTensor*, const DTensor*>;
double innerProduct(Communicator& comm, const std::vector<TensorPair>& pairs);

// The value on rank 0, for all ranks.
double valueOfFirstRank(Communicator& comm, double value);

// The Euclidean norm of all local memory, copies included.
double rawNorm(const DTensor& x);

// The sum of all ranks' values in an order that MPI chooses, which is enough to ask whether the sum
// is finite. Allocates nothing.
double sumOfRanks(Communicator& comm, double value);

// The sum of squares of all local memory of several tensors, copies included; null stands for none.
// A device is waited for once, and on the host nothing is allocated. Not collective.
double localSquares(std::span<const DTensor* const> tensors);

// The global index of the first element in a box of this rank, but not in another, whose value is
// not a number. Not collective.
std::optional<std::vector<Index>> firstNaN(const DTensor& x, const Box& in, const Box& butNotIn);

// The largest absolute value of any element of any rank; NaN if there is one.
double maxAbsolute(const DTensor& x);
// The largest absolute value of this rank's elements. Not collective.
double localMaxAbsolute(const DTensor& x);

} // namespace tenon
