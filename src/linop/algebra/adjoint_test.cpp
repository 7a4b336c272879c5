// SPDX-License-Identifier: BSD-2-Clause
// Compares <F x, y> with <x, F* y> for one random pair of tensors. The fill is raw memory, copies
// and halos included: on valid tensors, whose copies are equal, an adjoint that takes one rank's
// copy for another's would pass.
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
  // Two numbers for each seed, so that tests with other seeds share no tensor with this one.
  fillRaw(x, 2 * seed, integers);
  fillRaw(y, 2 * seed + 1, integers);
  op.apply(x, forward);
  op.applyAdjoint(y, adjoint);

  AdjointTestResult result;
  result.forwardPairing = pairing(forward, y);
  result.adjointPairing = pairing(x, adjoint);
  // Pairings of random tensors are small by cancellation, so an error is measured by the bounds
  // that Cauchy and Schwarz give for them.
  const double scale = std::max(rawNorm(forward) * rawNorm(y), rawNorm(x) * rawNorm(adjoint));
  const double difference = std::abs(result.forwardPairing - result.adjointPairing);
  result.relativeError = scale > 0 ? difference / scale : difference;
  return result;
}

} // namespace tenon
