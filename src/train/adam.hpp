// SPDX-License-Identifier: BSD-2-Clause
// Adam (Kingma & Ba 2015, Algorithm 1; the form of update.hpp), and AdamW, whose weight decay is
// apart from the gradient (Loshchilov & Hutter 2019, Algorithm 2).
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
  void takeOver(Settings after, const Settings::Names& names) override;
  void stepParameter(std::size_t number, const DTensor& direction, DTensor& value) override;
  // The updates of each parameter, "PATH/updates/conv1/weight".
  void visitNumbers(const std::string& path, StateVisitor& visitor) override;

  std::vector<Slot> slots() const override { return {{"mean", &mean_}, {"square", &square_}}; }

  Decay decay_;
  double beta1_ = 0, beta2_ = 0, epsilon_ = 0; // as they are set
  StateTensors mean_, square_;
  // The updates of each parameter, for the bias correction: a frozen parameter has none.
  std::vector<std::uint64_t> updates_;
};

} // namespace tenon
