// SPDX-License-Identifier: BSD-2-Clause
// What the layers of a network cost by a plan's rates, with the layouts that they have now that they are set up:
// the terms of the plan's sum, layer by layer and phase by phase.
#pragma once

#include "layer/layer.hpp"
#include "planner/own_model.hpp"

namespace tenon {

// Of a layer: its kernels, and what moves for them, halos included, in Apply and in the adjoint; and the reduction
// of its gradients.
enum class Phase { ApplyKernel, ApplyMove, AdjointKernel, AdjointMove, Gradients };
inline constexpr int kPhases = 5;
const char* phaseName(Phase phase);

struct PhaseCost {
  double seconds = 0;
  KernelWork work = {};          // of kernels, on the rank that has most
  Index messages = 0, bytes = 0; // that one rank sends
};
using LayerCost = std::array<PhaseCost, kPhases>;

// By node of the layer's maps, for its last set-up. `wanted`: whether the adjoint gives the cotangent of the
// network's input. Parameters that are moved to where they are used count for Apply.
std::vector<LayerCost> costsOf(const Layer& network, const std::vector<const Layer*>& nodes,
                               int rank, bool wanted, const OwnRates& rates);

// A phase of a layer as it was predicted and measured: seconds of the slowest rank, messages and bytes of all.
struct ComparedPhase {
  int node;
  Phase phase;
  PhaseCost predicted, measured;

  bool isKernel() const { return phase == Phase::ApplyKernel || phase == Phase::AdjointKernel; }
  bool isComparable() const { return predicted.seconds > 0 && measured.seconds > 0; }
  double ratio() const { return predicted.seconds / measured.seconds; }
};

// Kernels' work is not added.
PhaseCost& operator+=(PhaseCost& sum, const PhaseCost& more);
PhaseCost sumOf(const LayerCost& cost);

} // namespace tenon
