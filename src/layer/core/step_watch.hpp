// SPDX-License-Identifier: BSD-2-Clause
// Who is told, while the log is on, of the steps of a layer's passes and of the reductions of its gradients.
#pragma once

#include "declaration/core/pass.hpp"
#include "sys/log/log.hpp"

#include <cstddef>

namespace tenon {

// Who reduces gradients while an adjoint runs, each as soon as its last addend is there. Told of the steps of the
// adjoint, which are the same on all ranks.

class BoundMaps;

class AdjointReductions {
public:
  virtual ~AdjointReductions() = default;
  virtual void begins(const BoundMaps& maps, const Pass& pass) = 0;
  // The steps up to this one; told of at least those that a reduction waits for.
  virtual void ran(std::size_t step) = 0;
  virtual bool waitsFor(std::size_t step) const = 0;
  // After the last step, or after one that threw: nothing is under way then.
  virtual void ends() = 0;
};

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
