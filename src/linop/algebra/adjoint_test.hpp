// SPDX-License-Identifier: BSD-2-Clause
// Test of the adjoint identity <F x, y> = <x, F* y>. x and y are filled with independent numbers in
// each element of each rank's array, copies and halos included.
#pragma once

#include "linop/linear_op.hpp"

namespace tenon {

struct AdjointTestResult {
  double forwardPairing = 0; // <F x, y>
  double adjointPairing = 0; // <x, F* y>
  // |forwardPairing - adjointPairing| / max(|F x| |y|, |x| |F* y|), or 0 if all norms are 0.
  double relativeError = 0;
};

// Runs the test. Collective. With `integers` the tensors hold small integers, whose pairings are
// exact and must be equal.
AdjointTestResult testAdjoint(LinearOp& op, std::uint64_t seed, bool integers);

} // namespace tenon
