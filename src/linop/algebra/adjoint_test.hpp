// SPDX-License-Identifier: BSD-2-Clause
// The adjoint identity <F x, y> = <x, F* y> on raw memory, where x and y are independent in every
// element of every rank.
#pragma once

#include "linop/linear_op.hpp"

namespace tenon {

struct AdjointTestResult {
  double forwardPairing = 0; // <F x, y>
  double adjointPairing = 0; // <x, F* y>
  // |difference| / max(|F x| |y|, |x| |F* y|); 0 where all norms are 0.
  double relativeError = 0;
};

// Runs the test. Collective. With small integers both pairings are exact, so that they must be
// equal.
AdjointTestResult testAdjoint(LinearOp& op, std::uint64_t seed, bool integers);

} // namespace tenon
