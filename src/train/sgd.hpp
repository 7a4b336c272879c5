// SPDX-License-Identifier: BSD-2-Clause
// Stochastic gradient descent with momentum (Sutskever et al. 2013; the form of update.hpp).
#pragma once

#include "train/optimizer.hpp"

namespace tenon {

class Sgd final : public Optimizer {
public:
  explicit Sgd(Ref<Layer> layer);
  const char* type() const noexcept override { return "sgd"; }
  void setFromOptions() override;
  void setMomentum(double momentum, bool nesterov);

private:
  void stepParameter(std::size_t number, const DTensor& direction, DTensor& value,
                     Index stepNumber) override;

  double momentum_ = 0;
  bool nesterov_ = false;
  std::vector<Ref<DTensor>> velocity_;
};

} // namespace tenon
