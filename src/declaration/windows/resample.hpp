// SPDX-License-Identifier: BSD-2-Clause
// Types that map each spatial dimension linearly by itself, with the same map in all channels and
// images: output o of a dimension is a weighted sum of consecutive inputs. Means over windows of
// any sizes and interpolation are such maps. A part reads what its outputs need, with a halo.
//
// Labels on a grid axis: n batch, c channel, d/h/w space, B, R, P.
#pragma once

#include "declaration/core/declaration.hpp"

namespace tenon {

struct AxisReads {
  Index first = 0;
  std::vector<double> weights = {};
};

class Separable : public Declaration {
public:
  using Declaration::Declaration;
  // The inputs that output o reads, in a dimension with these numbers of inputs and outputs. From
  // one output to the next neither end of what is read falls.
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
