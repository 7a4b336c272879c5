// SPDX-License-Identifier: BSD-2-Clause
// Stochastic gradient descent with momentum (Sutskever et al. 2013, in the form of
// kernels/elementwise/update.hpp).
#pragma once

#include "train/optimizer.hpp"

namespace tenon {

class Sgd final : public Optimizer {
public:
  explicit Sgd(Ref<Layer> layer);
  std::string_view type() const noexcept override { return "sgd"; }

private:
  void applySettings(Settings after, const Settings::Names& names) override;
  void stepParameter(std::size_t number, const DTensor& direction, DTensor& value) override;

  std::vector<Slot> slots() const override { return {{"velocity", &velocity_}}; }

  double momentum_ = 0;
  bool nesterov_ = false;
  StateTensors velocity_;
};

} // namespace tenon
