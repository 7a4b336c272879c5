// SPDX-License-Identifier: BSD-2-Clause
// What `tenon check` asks of a layer: output, tangent, input and parameter gradients equal those of
// the same layer on one process, whose tangent and adjoint agree, and have the same bits on all copies.
// If one process refuses the configuration, so must all ranks.
#pragma once

#include "tools/check_case.hpp"
#include "tools/field.hpp"

#include <functional>
#include <optional>

namespace tenon::tools {

struct LayerPlan {
  std::vector<Indices> inputs;
  // For inputs on a mesh; none: for this process alone.
  std::function<Layer(MPI_Comm comm, const MeshSpec* mesh)> make;
  // What a mesh axis may have in a signature; none: the layer is left to choose.
  std::vector<std::string> letters = {};
  // For a loss: the value of its target, and its shape.
  Values target = {};
  Indices targetShape = {};
  TenonDataType targetType = TENON_INT64;
  bool isRandom = false; // draws anew in each Apply
};

void checkLayer(Case& c, const LayerPlan& plan);

} // namespace tenon::tools
