// SPDX-License-Identifier: BSD-2-Clause
// Pooling over windows of an input [batch, channel, spatial...]: the maximum, or the mean with or
// without the padding. Padding is absent, not zero, unless a boundary mode fills it. Ties of the maximum go to the first input in
// global row-major order.
//
// Letters on a mesh axis: n batch, c channel, d/h/w space, B, R; P for the mean, which is linear.
#pragma once

#include "kernels/pooling.hpp"
#include "layer/windowed_layer.hpp"

namespace tenon {

class PoolingLayer final : public WindowedLayer {
public:
  PoolingLayer(CommPtr comm, PoolingMode mode, std::vector<Window> windows);

  const char* type() const noexcept override;

private:
  std::string ownSettings() const override;
  KernelPlan plan(const Layout& input) override;
  WindowPlan windowPlan(const Layout& input) const override;
  SignatureTable table() const;

  PoolingMode mode_;
};

} // namespace tenon
