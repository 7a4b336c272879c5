// SPDX-License-Identifier: BSD-2-Clause
// A nonlinear function of each element. Letters on a mesh axis: S0, S1, ... (any split), B, R. A
// partial input must be summed first, since f(a + b) is not f(a) + f(b).
#pragma once

#include "kernels/pointwise.hpp"
#include "layer/kernel_layer.hpp"

namespace tenon {

class PointwiseLayer final : public KernelLayer {
public:
  PointwiseLayer(CommPtr comm, Pointwise function);
  const char* type() const noexcept override;

private:
  KernelPlan plan(const Layout& input) override;
  Pointwise function_;
};

// "relu", "tanh" or "sigmoid"; anything else is TENON_ERR_TYPE naming the nearest.
Pointwise parsePointwise(const std::string& name);

} // namespace tenon
