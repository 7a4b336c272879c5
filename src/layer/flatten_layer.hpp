// SPDX-License-Identifier: BSD-2-Clause
// Flatten: [batch, channel, spatial...] becomes [batch, features], row-major. Letters on a mesh
// axis: n batch, c channel (a part of the channels is a run of features), B, R, P. Splits of space
// must be given up first, since their features are no run.
#pragma once

#include "layer/kernel_layer.hpp"

namespace tenon {

class FlattenLayer final : public KernelLayer {
public:
  explicit FlattenLayer(CommPtr comm) : KernelLayer(std::move(comm)) {}
  const char* type() const noexcept override { return "flatten"; }

private:
  KernelPlan plan(const Layout& input) override;
};

} // namespace tenon
