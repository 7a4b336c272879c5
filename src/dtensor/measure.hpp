// SPDX-License-Identifier: BSD-2-Clause
// Sums over a distributed tensor. Local sums run pairwise in double, the ranks' sums are added in
// rank order, so every rank gets the same bits. All are collective.
#pragma once

#include "dtensor/dtensor.hpp"

#include <utility>
#include <vector>

namespace tenon {

// What would make pairing() or norm() fail, without communication.
void checkPaired(const DTensor& x, const DTensor& y);
void checkNormed(const DTensor& x);

// The pairing of x in a layout with y in its dual: the sum over all ranks of local dot products.
double pairing(const DTensor& x, const DTensor& y);

// The Euclidean norm of the tensor's value: each copy counts once. Throws TENON_ERR_SUPPORT where
// the layout holds addends: their value is known only once they are summed by a conversion.
double norm(const DTensor& x);

// The sum over the pairs of tensors in one layout each of the inner products of their values, each copy
// counted once, in one exchange. As for norm(), addends are refused.
using TensorPair = std::pair<const DTensor*, const DTensor*>;
double innerProduct(Communicator& comm, const std::vector<TensorPair>& pairs);

// What rank 0 has.
double valueOfFirstRank(Communicator& comm, double value);

// The Euclidean norm of all local memory, copies included.
double rawNorm(const DTensor& x);

// The sum of what all ranks have, in no order of ours: for what is only asked whether it is finite. Allocates nothing.
double sumOfRanks(Communicator& comm, double value);

// The sum of squares of all local memory, copies included. Not collective.
double localSquares(const DTensor& x);

// The largest absolute value of any element of any rank; NaN if there is one.
double maxAbsolute(const DTensor& x);
// Of this rank's elements. Not collective.
double localMaxAbsolute(const DTensor& x);

} // namespace tenon
