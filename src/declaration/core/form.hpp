// SPDX-License-Identifier: BSD-2-Clause
// The form of a layer: for given input layouts and index labels, the layouts on all ranks of the
// arrays that its local kernel reads and writes. A layout states how a tensor is distributed over a
// process grid. An input has two layouts: the one in which it is stored, and the one in which the
// kernel uses it (its use), for example with a halo. A conversion redistributes the input from the
// first to the second. For a 3 x 3 convolution with the label h, rows split over 2 ranks at 0, 8,
// 16:
//
//   inputs[0]    x, rows [0, 8) and [8, 16)
//   uses[0]      x with a halo, rows [0, 9) and [7, 16)
//   parameters   weight and bias, a copy on each rank
//   output       y, rows [0, 8) and [8, 16)
#pragma once

#include "declaration/core/signature.hpp"
#include "geometry/patches/patch_links.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tenon {

using Layouts = std::vector<Layout>;

// Split points of the output of sliding windows in space: at the windows whose centres are at the
// split points of the input, or into blocks of equal size.
enum class OutputCuts { Follow, Balanced };

// The requested distribution of a layer: the process grid and the index labels on it.
struct Choice {
  GridPtr grid = nullptr;  // null: the grid of the first input
  std::string labels = {}; // "n,h"; "": those that do not redistribute the first input
  bool overlap = false;    // compute in pieces during the halo exchange, if the type can
  bool arrives = false;    // the inputs are redistributed from another grid
  std::optional<OutputCuts> cuts = {}; // none: as the setting output_cuts says, if there is one
  // The layout of the output with a halo that each rank computes in addition to its own block, so
  // layers that read the output need no exchange (halo_sharing.hpp). Only for types that can do so.
  std::optional<Layout> computedHalo = {};
};

// The inputs of a form: shapes, layouts without halos, and the process grid.
struct FormInputs {
  std::vector<Shape> shapes;
  Layouts plain; // without halos
  GridPtr grid;  // the chosen grid, or that of the first input

  FormInputs(const Layouts& inputs, const Choice& choice) {
    for (const Layout& input : inputs) {
      shapes.push_back(input.shape());
      plain.push_back(input.withoutHalos());
    }
    grid = choice.grid ? choice.grid : plain.front().gridPtr();
  }
};

// A parameter of the layer as the kernel reads it.
struct ParameterForm {
  std::string name;
  Layout use;
  // For random initial values (Glorot and Bengio): how many inputs an output depends on, and how
  // many outputs depend on an input. If 0, all elements begin with the value `initial`.
  Index fanIn = 0, fanOut = 0;
  double initial = 0;
};

// Numbers that a layer carries from step to step and that are not differentiated, such as running
// means. All elements begin with the same value.
struct StateForm {
  std::string name;
  Layout use;
  double initial = 0;
};

// A part of the output that is computed separately, and the layout of the input that it reads.
struct FormPiece {
  Layout use;
  std::vector<Box> outputs; // by position in the grid, in global indices
};

// Whether boundary values are passed as one number instead of a tensor.
inline bool isNumber(const Layout& layout) {
  return layout.shape() == Shape{1} && !layout.hasHalos();
}

// The boundary values that the caller supplies on some sides of the input's use layout.
struct UserValues {
  std::optional<double> constant; // none: they are the second input
};

// The layouts of all arrays of a layer, for one list of input layouts and labels.
struct Form {
  // The layout of the first input that kernel call k reads, and the box of outputs that it computes
  // at a position of the grid. Only for types with one kernel.
  const Layout& useOf(int k) const { return pieces.empty() ? uses.front() : pieces[k].use; }
  Box outputsOf(int k, int position) const {
    return pieces.empty() || position < 0 ? output.box(position) : pieces[k].outputs[position];
  }

  Signature signature;
  Layouts inputs; // as the caller passes them
  Layouts uses;   // of the inputs that are converted; a second input with boundary values is not
  std::vector<ParameterForm> parameters = {};
  Layout output;
  std::optional<UserValues> userValues = {};
  // Pieces of the output: none, or first the interior, which reads the input without a halo, and
  // then the strips.
  std::vector<FormPiece> pieces = {};
  std::vector<StateForm> states = {};
  // The rule that fills linked halos of the first use layout, or adds those of the output back.
  std::optional<PatchRule> links = {};
};

// The floating-point operations of one rank, and the number of elements that its windows read,
// which is the size of the im2col matrix.
struct Work {
  double forward = 0;
  double adjoint = 0;           // for the cotangents of the inputs
  double adjointParameters = 0; // for the gradients of the parameters
  double columns = 0;           // elements that windows read
};

} // namespace tenon
