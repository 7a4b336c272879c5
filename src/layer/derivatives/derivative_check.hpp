// SPDX-License-Identifier: BSD-2-Clause
// Consistency tests of a layer's derivatives, at a point (x, p) and for random directions:
//
//   adjoint  <J (dx, dp), dy> = <dx, J* dy> + sum over p of <dp, gradient_p>
//   Taylor   | f(x + h dx, p + h dp) - f(x, p) - h J (dx, dp) |  decreases as h^2
//
// The adjoint test does not detect a tangent and an adjoint with the same error, and the Taylor
// test does not test the adjoint. Both restore parameters, gradients and tangents, and require an
// empty stack. Frozen parameters are not varied.
#pragma once

#include "layer/core/layer.hpp"

namespace tenon {

// The result of the adjoint test.
struct LayerAdjointResult {
  double tangentPairing = 0; // <J (dx, dp), dy>
  double adjointPairing = 0; // <dx, J* dy> + sum of <dp, gradient_p>
  // |difference| / max(|J| |dy|, |dx| |J* dy| + sum of |dp| |gradient_p|); 0 if all norms are 0.
  double relativeError = 0;
};

// The adjoint (dot) test. `x` is the point, in the layout of the last SetUp of a layer with one
// input; if null, it is random. Collective.
LayerAdjointResult checkLayerAdjoint(Layer& layer, const DTensor* x, std::uint64_t seed);

// The result of the Taylor test.
struct LayerTaylorResult {
  // Observed order; infinite if no remainder exceeds rounding: the map is linear.
  double order = 0;
  double remainder = 0; // at the longest step, relative to |f| + |J|
};
LayerTaylorResult checkLayerTaylor(Layer& layer, const DTensor* x, std::uint64_t seed);

} // namespace tenon
