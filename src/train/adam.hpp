// SPDX-License-Identifier: BSD-2-Clause
// Adam (Kingma & Ba 2015, Algorithm 1, in the form of kernels/elementwise/update.hpp), and AdamW,
// whose weight decay is separate from the gradient (Loshchilov & Hutter 2019, Algorithm 2).
#pragma once

#include "train/optimizer.hpp"

namespace tenon {

class Adam final : public Optimizer {
public:
  enum class Decay { InGradient, Decoupled };
  explicit Adam(Ref<Layer> layer, Decay decay = Decay::InGradient);
  std::string_view type() const noexcept override {
    return decay_ == Decay::Decoupled ? "adamw" : "adam";
  }

private:
  void applySettings(Settings after, const Settings::Names& names) override;
  void stepParameter(std::size_t number, const DTensor& direction, DTensor& value) override;
  // Visits the number of updates of each parameter, "PATH/updates/conv1/weight".
  void visitNumbers(const std::string& path, StateVisitor& visitor) override;

  std::vector<Slot> slots() const override { return {{"mean", &mean_}, {"square", &square_}}; }

  Decay decay_;
  double beta1_ = 0, beta2_ = 0, epsilon_ = 0; // values of the settings
  StateTensors mean_, square_;
  // Number of updates of each parameter, for the bias correction; a frozen parameter is not
  // updated.
  std::vector<std::uint64_t> updates_;
};

} // namespace tenon
