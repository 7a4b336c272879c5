// SPDX-License-Identifier: BSD-2-Clause
// Who is told of the passes of a layer while they run: a measurement of what steps take, reductions
// of gradients that go on beside an adjoint. Observers are told in the order in which they were
// given, after the scope of the step in the log has closed, so that what one of them does counts
// for no layer's step.
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
  // A pass begins, whose steps are the same on all ranks. `completes`: it is the adjoint of the
  // last evaluation that is pending, after which gradients are complete.
  virtual void begins(const BoundMaps& maps, const Pass& pass, bool completes) = 0;
  // The steps up to this one have run; `took` is what it took alone, and `function` what its
  // epilogue did where the kernel did not apply that itself; zeros while the log is off. Not every
  // step is told where several are queued as one, but each that the observer waits for.
  virtual void ran(std::size_t step, const OpenScope& took, const OpenScope& function) = 0;
  virtual bool waitsFor(std::size_t /*step*/) const { return false; }
  // After the last step, or after one that threw: nothing of the observer's may be under way then.
  virtual void ends() {}
  // The gradient of a parameter was collected from its uses and converted to a direction; told
  // while the log is on.
  virtual void reduced(const Parameter& /*parameter*/, const OpenScope& /*took*/) {}
};

using Observers = std::vector<PassObserver*>;

} // namespace tenon
