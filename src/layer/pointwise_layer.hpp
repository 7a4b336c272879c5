// SPDX-License-Identifier: BSD-2-Clause
// A function of each element. Letters on a mesh axis: S0, S1, ... (any split), B, R, and P for the
// linear ones (scale and identity). Elsewhere a partial input must be summed first, since f(a + b)
// is not f(a) + f(b).
#pragma once

#include "kernels/pointwise.hpp"
#include "layer/kernel_layer.hpp"

namespace tenon {

class PointwiseLayer final : public KernelLayer {
public:
  PointwiseLayer(CommPtr comm, const PointwiseFunction& function);
  // With the default of its parameter, if the function has one.
  PointwiseLayer(CommPtr comm, Pointwise function);
  const char* type() const noexcept override;
  // "slope" of leakyrelu, "factor" of scale. TENON_ERR_TYPE if the function has none of that name.
  void setParameter(const std::string& name, double value);
  void setFromOptions() override; // also -tenon_[prefix_]slope, factor

private:
  std::string ownSettings() const override;
  KernelPlan plan(const Layout& input) override;
  PointwiseFunction function_;
};

// "relu", "tanh", ...; a name that there is not is TENON_ERR_TYPE naming the nearest.
Pointwise parsePointwise(const std::string& name);
std::vector<std::string> pointwiseNames();

} // namespace tenon
