// SPDX-License-Identifier: BSD-2-Clause
// Compares <F x, y> with <x, F* y> for one random pair of tensors. The local arrays are filled
// without regard to copies: on valid tensors, whose copies are equal, an adjoint that confuses the
// copy of one rank with that of another would pass.
#include "linop/algebra/adjoint_test.hpp"

#include "dtensor/fill.hpp"
#include "dtensor/measure.hpp"

#include <algorithm>
#include <cmath>

namespace tenon {

AdjointTestResult testAdjoint(LinearOp& op, std::uint64_t seed, bool integers) {
  const Space space = op.space();
  DTensor x(op.comm(), op.domain(), op.domainType(), space);
  DTensor y(op.comm(), op.range().dual(), op.rangeType(), space);
  DTensor forward(op.comm(), op.range(), op.rangeType(), space);
  DTensor adjoint(op.comm(), op.domain().dual(), op.domainType(), space);
  // Two seeds per test: tests with different seeds then share no tensor.
  fillRaw(x, 2 * seed, integers);
  fillRaw(y, 2 * seed + 1, integers);
  op.apply(x, forward);
  op.applyAdjoint(y, adjoint);

  AdjointTestResult result;
  result.forwardPairing = pairing(forward, y);
  result.adjointPairing = pairing(x, adjoint);
  // Pairings of random tensors are small by cancellation, so the difference is relative to the
  // Cauchy-Schwarz bounds of the pairings.
  const double scale = std::max(rawNorm(forward) * rawNorm(y), rawNorm(x) * rawNorm(adjoint));
  const double difference = std::abs(result.forwardPairing - result.adjointPairing);
  result.relativeError = scale > 0 ? difference / scale : difference;
  return result;
}

} // namespace tenon
