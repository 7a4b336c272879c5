// SPDX-License-Identifier: BSD-2-Clause
// The Jacobian of a layer at a point as a linear operator: the tangent with respect to the input,
// and its adjoint.
//
// The operator owns the point: a copy of x, and a frame with the values that derivatives read. The
// layer's stack is not used. Parameters are constants, without tangents and gradients; after they
// have changed, the point must be set again.
#pragma once

#include "layer/core/layer.hpp"
#include "linop/algebra/shell.hpp"

namespace tenon {

class Jacobian final : public Shell {
public:
  // The layer must have one input and be set up for the layout of x. The operator is usable after
  // setPoint().
  Jacobian(Ref<Layer> layer, const DTensor& x);

  // Evaluates the layer at x. Collective.
  void setPoint(const DTensor& x);

  Space space() const noexcept override { return layer_->space(); }
  std::string agreedText() const override;
  std::string describeMore() const override;
  Index bufferBytes() const override;

private:
  void checkPoint() const;
  void tangent(const DTensor& dx, DTensor& dy);
  void adjoint(const DTensor& dy, DTensor& dx);

  Ref<Layer> layer_;
  Setup& setup_;
  std::unique_ptr<Frame> frame_;
  Ref<DTensor> x_, y_;
  ArgumentStaging staging_; // for the operator's arguments
  bool isSet_ = false;
};

} // namespace tenon
