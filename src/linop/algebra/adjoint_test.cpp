// SPDX-License-Identifier: BSD-2-Clause
// Compares <F x, y> with <x, F* y> for one random pair of tensors. The local arrays are filled
// without regard to copies: on valid tensors, whose copies are equal, an adjoint that confuses the
// copy of one rank with that of another would pass.
#include "linop/algebra/adjoint_test.hpp"

#include "dtensor/fill.hpp"
#include "dtensor/measure.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <vector>

namespace tenon {

namespace {

// The tensors of a map of the operator: the operator itself, or one of its blocks.
struct Tensors {
  DTensor x, y, forward, adjoint;

  Tensors(const LinearOp& map, Space space)
      : x(map.comm(), map.domain(), map.domainType(), space),
        y(map.comm(), map.range().dual(), map.rangeType(), space),
        forward(map.comm(), map.range(), map.rangeType(), space),
        adjoint(map.comm(), map.domain().dual(), map.domainType(), space) {}
};

// Fills x and y of each map. Each tensor of a test has a seed of its own, and tests with different
// seeds share no tensor.
void fill(std::deque<Tensors>& maps, std::uint64_t seed, bool integers) {
  std::uint64_t next = 2 * maps.size() * seed;
  for (Tensors& map : maps) {
    fillRaw(map.x, next++, integers);
    fillRaw(map.y, next++, integers);
  }
}

void apply(LinearOp& op, std::deque<Tensors>& maps) {
  std::vector<const DTensor*> x, y;
  std::vector<DTensor*> forward, adjoint;
  for (Tensors& map : maps) {
    x.push_back(&map.x);
    y.push_back(&map.y);
    forward.push_back(&map.forward);
    adjoint.push_back(&map.adjoint);
  }
  if (op.blocks().empty()) {
    op.apply(*x.front(), *forward.front());
    op.applyAdjoint(*y.front(), *adjoint.front());
  } else {
    op.applyMany(Sense::Forward, x, forward);
    op.applyMany(Sense::Adjoint, y, adjoint);
  }
}

double square(double a) {
  return a * a;
}

} // namespace

AdjointTestResult testAdjoint(LinearOp& op, std::uint64_t seed, bool integers) {
  std::deque<Tensors> maps;
  for (const LinearOpRef& block : op.blocks())
    maps.emplace_back(*block, op.space());
  if (maps.empty())
    maps.emplace_back(op, op.space());
  fill(maps, seed, integers);
  apply(op, maps);

  AdjointTestResult result;
  double x = 0, y = 0, forward = 0, adjoint = 0; // squares of norms
  for (const Tensors& map : maps) {
    result.forwardPairing += pairing(map.forward, map.y);
    result.adjointPairing += pairing(map.x, map.adjoint);
    x += square(rawNorm(map.x));
    y += square(rawNorm(map.y));
    forward += square(rawNorm(map.forward));
    adjoint += square(rawNorm(map.adjoint));
  }
  // Pairings of random tensors are small by cancellation, so the difference is relative to the
  // Cauchy-Schwarz bounds of the pairings.
  const double scale = std::max(std::sqrt(forward * y), std::sqrt(x * adjoint));
  const double difference = std::abs(result.forwardPairing - result.adjointPairing);
  result.relativeError = scale > 0 ? difference / scale : difference;
  return result;
}

} // namespace tenon
