// SPDX-License-Identifier: BSD-2-Clause
// What losses share: the target with which they compare their input.
#pragma once

#include "layer/layer.hpp"
#include "layer/source.hpp"
#include "linop/linear_op.hpp"

#include <optional>

namespace tenon {

// The target in the layout in which a set-up uses it. A target in another layout or type than the
// last is taken as it comes, and its conversion made then.
class TargetUse final : public Source {
public:
  // Without a type the target is float32 or float64.
  TargetUse(const Layer& layer, const Layout& use, std::optional<TenonDataType> type);

  // Throws TENON_ERR_STATE, TENON_ERR_DATATYPE or TENON_ERR_SHAPE if there is no target that fits.
  void begin() override;
  void end() override { conversion_->finish(); }
  const DTensor& value() const noexcept { return *value_; }

private:
  void checkTarget(const DTensor& target, TenonDataType type) const;

  const Layer& layer_;
  std::optional<TenonDataType> type_;
  Layout use_;
  LinearOpRef conversion_;
  Ref<DTensor> value_;
};

// A loss set up with the kernels of its list; the view says its signature.
std::unique_ptr<Setup> setUpLoss(Layer& layer, const Form& form, const MakeKernel& make);

} // namespace tenon
