// SPDX-License-Identifier: BSD-2-Clause
// What `tenon check` asks of a layer: output, tangent, input and parameter gradients equal those of
// the same layer on one process, whose tangent and adjoint agree, and have the same bits on all
// copies. If one process refuses the configuration, so must all ranks.
#pragma once

#include "tools/check/case.hpp"
#include "tools/check/field.hpp"

#include <functional>

namespace tenon::tools {

struct LayerPlan {
  std::vector<Indices> inputs;
  // Makes the layer for inputs on a grid, or, without one, for this process alone.
  std::function<Layer(MPI_Comm comm, const GridSpec* grid)> make;
  bool isSigned = true;    // if not, the layer is left to choose
  bool isPositive = false; // what the inputs hold
  // For a loss, the value of its target, and its shape and type.
  Values target = {};
  Indices targetShape = {};
  TenonDataType targetType = TENON_INT64;
};

void checkLayer(Case& c, const LayerPlan& plan);
// A random signature: one of the layer's index labels for an input of that shape, on each axis of a
// grid, such as "n,h".
std::string drawSignature(Draw& draw, TenonLayer layer, const Indices& input, int axes);

} // namespace tenon::tools
