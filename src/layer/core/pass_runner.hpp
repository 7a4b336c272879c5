// SPDX-License-Identifier: BSD-2-Clause
// Runs the steps of a pass on tensors.
//
// If a step throws, what was begun is ended before the error goes on, since other ranks wait for it.
#pragma once

#include "layer/core/bound_maps.hpp"
#include "layer/core/recorded_steps.hpp"

namespace tenon {

// What a pass works on.
struct PassMemory {
  DTensor* const* tensors; // by value of the pass
  Buffer* workspaces;      // of the kernels by map; null in inference
  bool completes = false;  // an adjoint after which gradients are complete
};

// Steps are recorded if there is where to; not while the log is on.
void runPass(const BoundMaps& maps, const Pass& pass, const PassMemory& memory,
             RecordedSteps* recorded);

} // namespace tenon
