// SPDX-License-Identifier: BSD-2-Clause
// Base of the types that map each spatial dimension separately and linearly, with the same map for
// all channels and samples: output o of a dimension is a weighted sum of consecutive inputs.
// Examples are means over windows of varying size, and interpolation. Blocks read further inputs as
// a halo.
//
// Labels per grid axis: n batch, c channel, d/h/w space, B (replicated), R (on the root of the axis
// only), P (partial sums).
#pragma once

#include "declaration/core/declaration.hpp"

namespace tenon {

// The inputs of one output: indices first, first + 1, ..., with their weights.
struct AxisReads {
  Index first = 0;
  std::vector<double> weights = {};
};

class Separable : public Declaration {
public:
  using Declaration::Declaration;
  // The inputs that output o reads, in a dimension with these numbers of inputs and outputs. Both
  // the first and the last index must be non-decreasing in o.
  virtual AxisReads reads(Index o, Index inputs, Index outputs) const = 0;

  Shape outputShape(const std::vector<Shape>& inputs) const override;
  SignatureTable rows(const std::vector<Shape>& inputs) const override;
  Form form(const Layouts& inputs, const Choice& choice) const override;

protected:
  // The number of outputs in a spatial dimension.
  virtual Index outputs(int spatialDim, int spatialRank, Index inputs) const = 0;

private:
  Interval inputsOf(Interval outputs, int dim, const Shape& in, const Shape& out) const;
};

} // namespace tenon
