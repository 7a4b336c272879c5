// SPDX-License-Identifier: BSD-2-Clause
// Runs the steps of a pass on tensors.
//
// If a step throws, what was begun is ended before the error goes on, since other ranks wait for
// it.
#pragma once

#include "layer/core/bound_maps.hpp"
#include "sys/log/log.hpp"

#include <array>

namespace tenon {

// What a pass works on.
struct PassMemory {
  DTensor* const* tensors; // by value of the pass
  Buffer* workspaces;      // of the kernels by map; null in inference
  bool completes = false;  // an adjoint after which gradients are complete
};

class StepRunner {
public:
  StepRunner(const BoundMaps& maps, const Pass& pass, const PassMemory& memory)
      : maps_(maps), list_(maps.list()), pass_(pass), memory_(memory) {}

  // Runs a step, and returns the one behind it.
  std::size_t run(std::size_t s);
  // What that took alone; zeros while the log is off.
  const OpenScope& took() const noexcept { return took_; }
  // What the function of its epilogue took, where the kernel did not apply that itself.
  const OpenScope& tookByFunction() const noexcept { return function_; }
  // Of what was begun before a step that failed. Other errors are left untold.
  void endBegunBefore(std::size_t failed) noexcept;

  const BoundMaps& maps() const noexcept { return maps_; }
  const Pass& pass() const noexcept { return pass_; }
  const PassMemory& memory() const noexcept { return memory_; }
  const Map& mapOf(const Step& step) const { return list_.maps()[step.map]; }
  // Null where there is no value.
  DTensor* at(ValueId v) const { return v == kNoValue ? nullptr : memory_.tensors[v]; }
  Buffer* workspaceOf(const Step& step) const {
    return memory_.workspaces ? memory_.workspaces + step.map : nullptr;
  }
  // A copy that is not needed: its value stands in the memory of what it reads.
  bool isInPlace(const Step& step) const {
    return isCopy(step) && at(step.reads[0]) == at(step.writes[0]);
  }

private:
  // A kernel's inputs, and its output.
  using Several = std::array<DTensor*, MapList::kMaxInputs + 1>;
  std::span<DTensor* const> at(const std::vector<ValueId>& values, Several& several) const;
  Action actionOf(const Step& step) const;

  // False if the function of its epilogue is to follow.
  bool runStep(const Step& step);
  void applyFunction(const Step& step);
  void begin(const Step& step);
  void end(const Step& step);
  void apply(const Step& step);
  void differentiate(const Step& step);

  const BoundMaps& maps_;
  const MapList& list_;
  const Pass& pass_;
  const PassMemory& memory_;
  OpenScope took_, function_;
};

class RecordedSteps;
// All steps, told to the observers of the maps. They are recorded if there is where to, and the log
// is off.
void runPass(const BoundMaps& maps, const Pass& pass, const PassMemory& memory,
             RecordedSteps* recorded);

} // namespace tenon
