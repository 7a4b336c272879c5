// SPDX-License-Identifier: BSD-2-Clause
// The mean squared error of x against a target t of the same shape, N elements in all:
//
//   loss = 1/N sum (x - t)^2,      dloss/dx = 2/N (x - t).
//
// Letters on a mesh axis: S0, S1, ... (any split), B, R; a partial input is summed first. The layer
// is two steps: the local sum, P -> B. The output is the scalar [1], on all ranks that hold the
// input; its dual is partial: seed it with 1 on coordinate 0 and 0 elsewhere (FillConstant does).
// The loss is not differentiated by the target.
#pragma once

#include "layer/loss_layer.hpp"

namespace tenon {

// The target is float32 or float64, whatever the layer's data type.
class MeanSquaredErrorLayer final : public LossLayer {
public:
  explicit MeanSquaredErrorLayer(CommPtr comm) : LossLayer(std::move(comm)) {}
  const char* type() const noexcept override { return "meansquarederror"; }

private:
  std::unique_ptr<Setup> makeSetup(const Layout& input) override;
};

} // namespace tenon
