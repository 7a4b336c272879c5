// SPDX-License-Identifier: BSD-2-Clause
// Whether the derivatives of a layer belong together, at a point (x, p) and for random directions:
//
//   adjoint  <J (dx, dp), dy> = <dx, J* dy> + sum over p of <dp, gradient_p>
//   Taylor   | f(x + h dx, p + h dp) - f(x, p) - h J (dx, dp) |  falls as h^2
//
// The first alone cannot see a tangent and an adjoint that are wrong alike, the second says nothing
// about the adjoint. Both leave parameters, gradients and tangents as they were, and want an empty
// stack. Frozen parameters do not move.
#pragma once

#include "layer/core/layer.hpp"

namespace tenon {

struct LayerAdjointResult {
  double tangentPairing = 0; // <J (dx, dp), dy>
  double adjointPairing = 0; // <dx, J* dy> + sum of <dp, gradient_p>
  // |difference| / max(|J| |dy|, |dx| |J* dy| + sum of |dp| |gradient_p|); 0 where all norms are 0.
  double relativeError = 0;
};

// Collective. `x` is the point, in the layout of the last SetUp of a layer with one input; with
// null it is drawn at random.
LayerAdjointResult checkLayerAdjoint(Layer& layer, const DTensor* x, std::uint64_t seed);

struct LayerTaylorResult {
  double order = 0;     // infinite where no remainder stands out from rounding: the map is linear
  double remainder = 0; // of the longest step, relative to |f| + |J|
};
LayerTaylorResult checkLayerTaylor(Layer& layer, const DTensor* x, std::uint64_t seed);

} // namespace tenon
