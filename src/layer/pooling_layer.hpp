// SPDX-License-Identifier: BSD-2-Clause
// Pooling over windows of an input [batch, channel, spatial...]: the maximum, or the mean with or
// without the padding. Padding is absent, not zero. Ties of the maximum go to the first input in
// global row-major order.
//
// Letters on a mesh axis: n batch, c channel, d/h/w space, B, R; P for the mean, which is linear.
#pragma once

#include "geometry/window.hpp"
#include "kernels/pooling.hpp"
#include "layer/kernel_layer.hpp"

namespace tenon {

class PoolingLayer final : public KernelLayer {
public:
  PoolingLayer(CommPtr comm, PoolingMode mode, std::vector<Window> windows);

  const char* type() const noexcept override;
  // As many as there are spatial dimensions.
  void setWindows(std::vector<Window> windows);
  const Window& window(int spatialDim) const { return windows_.at(spatialDim); }
  int spatialRank() const noexcept { return static_cast<int>(windows_.size()); }

private:
  std::string ownSettings() const override;
  KernelPlan plan(const Layout& input) override;
  SignatureTable table() const;

  PoolingMode mode_;
  std::vector<Window> windows_;
};

} // namespace tenon
