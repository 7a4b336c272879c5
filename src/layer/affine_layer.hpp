// SPDX-License-Identifier: BSD-2-Clause
// The affine layer  y[n,o] = sum over i of x[n,i] W[o,i] + b[o].
//
// Letters on a mesh axis: n batch, o outputs, i inputs (y partial), B, R, P. The P_fo x P_fi layer
// of Hewett & Grady is the mesh with the letters o,i; the 1.5-D product of Gholami et al. is o,n.
#pragma once

#include "layer/kernel_layer.hpp"

namespace tenon {

class AffineLayer final : public KernelLayer {
public:
  AffineLayer(CommPtr comm, Index inputs, Index outputs);

  const char* type() const noexcept override { return "affine"; }
  void setBias(bool bias);

private:
  std::string ownSettings() const override;
  KernelPlan plan(const Layout& input) override;

  Index inputs_, outputs_;
  bool bias_ = true;
};

} // namespace tenon
