// SPDX-License-Identifier: BSD-2-Clause
// The checks of a layer: output, tangent, input and parameter gradients equal those of the same
// layer on one process, whose tangent and adjoint are consistent, and are bitwise identical in all
// copies. If one process rejects the configuration, all ranks must reject it.
#pragma once

#include "tools/check/case.hpp"
#include "tools/check/field.hpp"
#include "tools/check/layer_step.hpp"

#include <functional>

namespace tenon::tools {

// A layer to check.
struct LayerCase {
  std::vector<Indices> inputs; // shapes of the inputs
  // Creates the layer for inputs on a grid, or for this process only if `grid` is null.
  std::function<Layer(MPI_Comm comm, const GridSpec* grid)> make;
  bool isSigned = true;    // false: the layer chooses its signature
  bool isPositive = false; // the values of the inputs must be positive
  // For a loss: the value of its target, and its shape and type.
  Values target = {};
  Indices targetShape = {};
  TenonDataType targetType = TENON_INT64;
};

void checkLayer(Case& c, const LayerCase& plan);
// Returns a random signature, which says how a layer is parallelized: for each axis of the grid one
// of the labels that the layer accepts for an input of this shape. Example: "n,h" divides the batch
// on axis 0 and the rows of the image on axis 1.
std::string drawSignature(Draw& draw, TenonLayer layer, const Indices& input, int axes);

// Parts of checkLayer(), for layers whose inputs have no layouts of a grid.

// The tolerance of the numbers of a result, relative to the largest of them.
double toleranceOf(TenonDataType type);
// Whether set-up succeeds; all ranks must return the error code that one process returns.
bool isAccepted(Case& c, LayerStep& tested, LayerStep& reference);
// The dot test <J v, dy> = <v, J* dy> on one process; v includes directions of the parameters. The
// tolerance is relative to the sum of magnitudes, since terms cancel.
void dotTest(Case& c, LayerStep& step, TenonDataType type);
// Compares the gradients by the parameters; `before` has those of an earlier step, or is empty.
void compareGradients(Case& c, LayerStep& tested, LayerStep& reference,
                      const std::vector<Values>& before = {});

} // namespace tenon::tools
