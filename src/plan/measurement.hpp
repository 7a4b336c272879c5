// SPDX-License-Identifier: BSD-2-Clause
// Measured times of the phases of each layer (kernels and communication of Apply and adjoint, and
// reduction of gradients), from the last passes that ran while the log was on; and the costs that a
// plan's rates predict for the same phases. A pass is one run of Apply or of its adjoint.
#pragma once

#include "layer/core/layer.hpp"
#include "layer/core/pass_observer.hpp"
#include "planner/prices/own_model.hpp"

namespace tenon {

// The phases of a layer: its kernels and its communication including halos, in Apply and in the
// adjoint; and the reduction of its gradients. They are the terms of the plan's sum, for the
// layouts that the layers have after the set-up.
enum class Phase { ApplyKernel, ApplyMove, AdjointKernel, AdjointMove, Gradients };
inline constexpr int kPhases = 5;
const char* phaseName(Phase phase);

struct PhaseCost {
  double seconds = 0;
  KernelWork work = {};          // of kernels, on the rank with the most work
  Index messages = 0, bytes = 0; // sent by one rank
};
using LayerCost = std::array<PhaseCost, kPhases>;

// What decides how the conversions of a network are carried out, by the options and on the ranks of
// its communicator.
MovementTarget movementTargetOf(const Layer& network);

// The costs of each node of the network's maps, for its last set-up. `wanted` tells whether the
// adjoint computes the cotangent of the network's input. The conversion of parameters to their use
// belongs to Apply.
std::vector<LayerCost> costsOf(const Layer& network, int rank, bool wanted, const OwnRates& rates);

// A phase of a layer, predicted and measured: seconds of the slowest rank, messages and bytes of
// all ranks.
struct ComparedPhase {
  int node;
  Phase phase;
  PhaseCost predicted, measured;

  bool isKernel() const { return phase == Phase::ApplyKernel || phase == Phase::AdjointKernel; }
  bool isComparable() const { return predicted.seconds > 0 && measured.seconds > 0; }
  double ratio() const { return predicted.seconds / measured.seconds; }
};

// Adds seconds, messages and bytes, but not the work of kernels.
PhaseCost& operator+=(PhaseCost& sum, const PhaseCost& more);
PhaseCost sumOf(const LayerCost& cost);

class Measurement final : public PassObserver {
public:
  static constexpr int kPasses = 32; // number of recent passes that are stored

  // Measures the passes of these maps, whose nodes are the layers in the order in which they run.
  Measurement(const BoundMaps& maps, const std::vector<const Layer*>& nodes);

  void begins(const BoundMaps& maps, const Pass& pass, bool completes) override;
  void ran(std::size_t step, const ScopeTotals& took, const ScopeTotals& function) override;
  void reduced(const Parameter& parameter, const ScopeTotals& took) override;

  // The median of the seconds of the stored passes, and the messages of the last one.
  PhaseCost of(int node, Phase phase) const;
  // The number of training steps for which both Apply and adjoint are stored.
  int passes() const;
  // Whether the last adjoint computed the cotangent of the network's input.
  bool wantedInput() const noexcept { return wantedInput_; }

private:
  // Time, messages and bytes of one node in one pass.
  struct Sums {
    ScopeTotals kernel, move;
  };
  // The last passes of one kind, as a ring buffer.
  struct Ring {
    explicit Ring(std::size_t nodes) : nodes(nodes), sums(nodes * kPasses) {}
    void begin() noexcept;
    Sums& at(int pass, int node) {
      return sums[nodes * static_cast<std::size_t>(pass % kPasses) +
                  static_cast<std::size_t>(node)];
    }
    const Sums& at(int pass, int node) const { return const_cast<Ring*>(this)->at(pass, node); }
    std::size_t nodes;
    std::vector<Sums> sums; // [pass % kPasses][node]
    int begun = 0;          // number of passes so far
  };
  const Ring& ringOf(Phase phase) const;

  const BoundMaps& maps_;
  std::vector<std::pair<const Parameter*, int>> parameters_; // with their nodes
  Ring apply_, adjoint_, gradients_;
  const Pass* running_ = nullptr; // null if the pass is not measured
  bool wantedInput_ = false;
};

} // namespace tenon
