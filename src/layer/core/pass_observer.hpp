// SPDX-License-Identifier: BSD-2-Clause
// Observers of the passes of a layer: measurements of the time of steps, and reductions of
// gradients that run during an adjoint. Observers are called in the order in which they were added,
// after the log scope of a step has closed, so their own time is not attributed to a layer's step.
#pragma once

#include "declaration/core/pass.hpp"
#include "sys/log/log.hpp"

#include <cstddef>
#include <vector>

namespace tenon {

class BoundMaps;
class Parameter;

class PassObserver {
public:
  virtual ~PassObserver() = default;
  // A pass begins. Its steps are the same on all ranks. `completes`: it is the adjoint of the last
  // pending evaluation, after which gradients are complete.
  virtual void begins(const BoundMaps& maps, const Pass& pass, bool completes) = 0;
  // The steps up to this one have run. `took` is the time of this step alone, and `function` that
  // of its epilogue if the kernel did not apply it; both are zero while the log is off. If several
  // steps are queued as one, only the last is reported; steps for which waitsFor() is true are
  // always reported.
  virtual void ran(std::size_t step, const OpenScope& took, const OpenScope& function) = 0;
  virtual bool waitsFor(std::size_t /*step*/) const { return false; }
  // The pass has ended, after its last step or an error: all of the observer's operations must be
  // complete on return.
  virtual void ends() {}
  // The gradient of a parameter was collected and converted to a direction; called while the log is
  // on.
  virtual void reduced(const Parameter& /*parameter*/, const OpenScope& /*took*/) {}
};

using Observers = std::vector<PassObserver*>;

} // namespace tenon
