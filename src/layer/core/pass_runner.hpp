// SPDX-License-Identifier: BSD-2-Clause
// Runs the steps of a pass (declaration/core/pass.hpp) on tensors. A pass is the list of steps of
// the Apply, tangent or adjoint of a layer or network. For instance, with kernels f and g and a
// halo exchange E from value x to value u:
//
//   Begin E      starts the messages of the exchange
//   Forward f    runs a local kernel that needs no halo
//   End E        completes the exchange
//   Forward g    runs the kernel that reads u
//
// If a step throws, exchanges that were begun are completed before the error is rethrown, because
// other ranks wait for their messages.
#pragma once

#include "layer/core/bound_maps.hpp"
#include "sys/log/log.hpp"

#include <array>

namespace tenon {

// A batch normalisation that the kernel of a step applies: its map, and memory for the factor and
// the summand of each channel.
struct FoldedChannels {
  int convolution, map; // the maps of the kernel and of the normalisation
  mutable std::vector<float> scale, shift;
};

// How Apply in inference differs from that in training (inference_plan.cpp): which values have
// their channels last in memory, and which normalisations are folded into other kernels.
class InferencePlan {
public:
  InferencePlan() = default; // empty: as in training
  InferencePlan(std::vector<bool> channelsLast, std::vector<FoldedChannels> folded)
      : channelsLast_(std::move(channelsLast)), folded_(std::move(folded)) {}

  bool isEmpty() const noexcept { return channelsLast_.empty(); }
  bool isChannelsLast(ValueId v) const { return !isEmpty() && channelsLast_[v]; }
  // The normalisation that is folded into the kernel of a map; null for none. The last value that
  // its step reads is that of the statistics.
  const FoldedChannels* foldedIn(int convolution) const;

private:
  std::vector<bool> channelsLast_; // by value of the pass
  std::vector<FoldedChannels> folded_;
};

// Changes a pass of Apply that saves nothing, and returns the plan with which it runs.
InferencePlan planInference(const BoundMaps& maps, Pass& pass);

// Lets a tensor without a halo use this memory, with its dimension 1 last.
void placeChannelsLast(DTensor& x, void* memory);

// The arrays on which a pass works.
struct PassMemory {
  DTensor* const* tensors; // by value number; null if absent
  Buffer* workspaces;      // of kernels, indexed by map; null in inference
  // True for the last pending adjoint: the gradients are complete after it, so their reduction can
  // start during the pass.
  bool completes = false;
  // For Apply in inference, which may use other kernels and orders of channels than training.
  const InferencePlan* inference = nullptr;
};

// Executes single steps.
class StepRunner {
public:
  StepRunner(const BoundMaps& maps, const Pass& pass, const PassMemory& memory)
      : maps_(maps), list_(maps.list()), pass_(pass), memory_(memory) {}

  // Runs step s and returns the index of the next one, s + 1.
  std::size_t run(std::size_t s);
  // The measured time of the last step; zero while the log is off.
  const ScopeTotals& took() const noexcept { return took_; }
  // The measured time of its epilogue (an elementwise function, such as a rectifier), if the kernel
  // did not apply it itself.
  const ScopeTotals& tookByEpilogue() const noexcept { return epilogueTook_; }
  // Completes the operations that were begun before step `failed` threw. Further errors are
  // ignored.
  void endBegunBefore(std::size_t failed) noexcept;

  const BoundMaps& maps() const noexcept { return maps_; }
  const Pass& pass() const noexcept { return pass_; }
  const PassMemory& memory() const noexcept { return memory_; }
  const Map& mapOf(const Step& step) const { return list_.maps()[step.map]; }
  // The tensor of a value; null for kNoValue.
  DTensor* at(ValueId v) const { return v == kNoValue ? nullptr : memory_.tensors[v]; }
  Buffer* workspaceOf(const Step& step) const {
    return memory_.workspaces ? memory_.workspaces + step.map : nullptr;
  }
  // Whether the step is a copy that is not needed, because its result uses the memory of its
  // source.
  bool isInPlace(const Step& step) const {
    return isCopy(step) && at(step.reads[0]) == at(step.writes[0]);
  }

private:
  // The tensors of a kernel's inputs and output.
  using KernelTensors = std::array<DTensor*, MapList::kMaxInputs + 1>;
  std::span<DTensor* const> at(const std::vector<ValueId>& values, KernelTensors& tensors) const;
  Action actionOf(const Step& step) const;

  // Returns false if the step has an epilogue that the kernel has not applied; applyEpilogue() must
  // be called then.
  bool runStep(const Step& step);
  void applyEpilogue(const Step& step);
  // Runs a kernel by its implementation for inference; false if it has none.
  bool infer(const Step& step, Inputs x, DTensor& y);
  // begin(), end() and apply(), which is both at once, run the operator or source of a step.
  // differentiate() runs the derivative of its kernel.
  void begin(const Step& step);
  void end(const Step& step);
  void apply(const Step& step);
  // Whether the map is an operator that neither sends nor receives on this rank: its Begin then
  // does nothing.
  bool isWithinRank(const Map& map) const;
  void differentiate(const Step& step);

  const BoundMaps& maps_;
  const MapList& list_;
  const Pass& pass_;
  const PassMemory& memory_;
  ScopeTotals took_, epilogueTook_;
};

class RecordedSteps;
// Runs all steps and calls the observers of the maps. Steps are recorded as device graphs if
// `recorded` is not null and the log is off.
void runPass(const BoundMaps& maps, const Pass& pass, const PassMemory& memory,
             RecordedSteps* recorded);

} // namespace tenon
