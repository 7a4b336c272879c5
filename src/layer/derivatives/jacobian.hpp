// SPDX-License-Identifier: BSD-2-Clause
// The Jacobian of a layer at a point as an operator: the tangent by the input, and its adjoint.
//
// The point is the operator's own, a copy of x and a frame of what derivatives read, so that the
// layer's stack is left alone. The parameters are constants: they have no direction and gather no
// gradient; but they are the layer's, and once they change the point must be set again.
#pragma once

#include "layer/core/layer.hpp"
#include "linop/algebra/shell.hpp"

namespace tenon {

class Jacobian final : public Shell {
public:
  // The layer has one input and is set up for the layout of x. It is not evaluated before
  // setPoint().
  Jacobian(Ref<Layer> layer, const DTensor& x);

  // Collective: evaluates the layer at x.
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
  ArgumentStaging staging_; // of the operator's tensors
  bool isSet_ = false;
};

} // namespace tenon
