// SPDX-License-Identifier: BSD-2-Clause
// Runs the steps of a pass on tensors.
//
// If a step throws, what was begun is ended before the error goes on, since other ranks wait for it.
#pragma once

#include "layer/core/bound_maps.hpp"
#include "layer/core/recorded_steps.hpp"
#include "layer/core/rounding.hpp"

namespace tenon {

// What an Apply has, or has left, for the kernels: its tensors by value of the list, those that were
// not kept left alone; memory by map, none in inference. An Apply that rounds has where to, a derivative where from.
struct PassPoint {
  DTensor** tensors;
  Buffer* workspaces;
  const Rounding *keeping = nullptr, *expanding = nullptr;
  RoundedValue* rounded = nullptr;
  bool completes = false; // an adjoint after which gradients are complete
};

// `tensors`: by value of the pass. Steps are recorded if there is where to; not while the log is on.
void runPass(const BoundMaps& maps, const Pass& pass, DTensor* const* tensors,
             const PassPoint& point, RecordedSteps* recorded);

} // namespace tenon
