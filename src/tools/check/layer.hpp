// SPDX-License-Identifier: BSD-2-Clause
// The checks of a layer: output, tangent, input and parameter gradients equal those of the same
// layer on one process, whose tangent and adjoint are consistent, and are bitwise identical in all
// copies. If one process rejects the configuration, all ranks must reject it.
#pragma once

#include "tools/check/case.hpp"
#include "tools/check/field.hpp"

#include <functional>

namespace tenon::tools {

struct LayerPlan {
  std::vector<Indices> inputs;
  // Creates the layer for inputs on a grid, or for this process only if `grid` is null.
  std::function<Layer(MPI_Comm comm, const GridSpec* grid)> make;
  bool isSigned = true;    // false: the layer chooses its signature
  bool isPositive = false; // of the values of the inputs
  // For a loss: the value of its target, and its shape and type.
  Values target = {};
  Indices targetShape = {};
  TenonDataType targetType = TENON_INT64;
};

void checkLayer(Case& c, const LayerPlan& plan);
// A random signature: for each axis of a grid one of the layer's labels for an input of that shape,
// such as "n,h".
std::string drawSignature(Draw& draw, TenonLayer layer, const Indices& input, int axes);

} // namespace tenon::tools
