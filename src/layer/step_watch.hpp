// SPDX-License-Identifier: BSD-2-Clause
// Who is told, while the log is on, of the steps of a layer's passes and of the reductions of its gradients.
#pragma once

#include "declaration/pass.hpp"
#include "sys/open_scope.hpp"

namespace tenon {

class Parameter;

class StepWatch {
public:
  virtual ~StepWatch() = default;
  virtual void begins(const MapList& list, const Pass& pass) noexcept = 0;
  // `took` is the time and the messages of the step.
  virtual void ran(const MapList& list, const Step& step, const OpenScope& took) noexcept = 0;
  // The gradient of a parameter was collected from its uses, and converted to a direction.
  virtual void reduced(const Parameter& parameter, const OpenScope& took) noexcept = 0;
};

} // namespace tenon
