// SPDX-License-Identifier: BSD-2-Clause
// Observers of the passes (the step lists of an Apply, tangent or adjoint) of a layer: measurements
// of the time of steps, and reductions of gradients that run during an adjoint. The runner calls,
// for each pass:
//
//   begins()     before the first step
//   ran()        after each step, or after several that are queued on the device as one
//   ends()       after the last step, or after an error
//
// Observers are called in the order in which they were added, after the log scope of a step has
// closed, so the time of an observer is not counted as time of the step.
#pragma once

#include "declaration/core/pass.hpp"
#include "sys/log/log.hpp"

#include <cstddef>
#include <vector>

namespace tenon {

class BoundMaps;
class Parameter;

// The interface of an observer.
class PassObserver {
public:
  virtual ~PassObserver() = default;
  // A pass begins. Its steps are the same on all ranks. `completes`: the pass is the adjoint of the
  // only pending Apply, so gradients are complete at its end.
  virtual void begins(const BoundMaps& maps, const Pass& pass, bool completes) = 0;
  // All steps up to number `step` have run. `took` is the time of this step alone, and `function`
  // that of its epilogue (a function of each output element) if the kernel did not apply it itself.
  // Both are zero while the log is off. If several steps are queued as one, only the last is
  // reported; a step for which waitsFor() is true always ends such a group.
  virtual void ran(std::size_t step, const ScopeTotals& took, const ScopeTotals& function) = 0;
  virtual bool waitsFor(std::size_t /*step*/) const { return false; }
  // The pass has ended, after its last step or an error. The observer must complete all of its own
  // operations before it returns.
  virtual void ends() {}
  // The gradient of a parameter was collected and reduced for the optimizer; called while the log
  // is on.
  virtual void reduced(const Parameter& /*parameter*/, const ScopeTotals& /*took*/) {}
};

using Observers = std::vector<PassObserver*>;

} // namespace tenon
