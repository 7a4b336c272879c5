// SPDX-License-Identifier: BSD-2-Clause
// A layer for given inputs and index labels: the layouts, of all ranks, of what its local kernel
// reads and writes. Conversions bring the inputs from where they lie to where they are used.
#pragma once

#include "declaration/core/signature.hpp"
#include "geometry/patches/patch_links.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tenon {

using Layouts = std::vector<Layout>;

// How the output of sliding windows is cut in space: where the centres of the windows are cut in
// the input, or into parts of equal size.
enum class OutputCuts { Follow, Balanced };

// What is asked of a layer for given inputs: the process grid and the index labels on it.
struct Choice {
  GridPtr grid = nullptr;  // null: the first input's
  std::string labels = {}; // "n,h"; "": those under which the first input stays where it is
  bool overlap = false;    // compute in pieces while halos travel, where the type can
  bool arrives = false;    // inputs come to the grid from elsewhere
  std::optional<OutputCuts> cuts = {}; // none: as the setting output_cuts says, where there is one
  // The output with a halo that each rank computes beside its own part, so that who reads it need
  // not exchange it (halo_sharing.hpp); of types that can.
  std::optional<Layout> computedHalo = {};
};

// What the form of several inputs begins with.
struct FormInputs {
  std::vector<Shape> shapes;
  Layouts plain; // without halos
  GridPtr grid;  // the chosen one, or the first input's

  FormInputs(const Layouts& inputs, const Choice& choice) {
    for (const Layout& input : inputs) {
      shapes.push_back(input.shape());
      plain.push_back(input.withoutHalos());
    }
    grid = choice.grid ? choice.grid : plain.front().gridPtr();
  }
};

struct ParameterForm {
  std::string name;
  Layout use;
  Index fanIn = 0, fanOut = 0; // 0: all start with the value
  double initial = 0;
};

// Numbers that a layer carries from step to step and that are not differentiated, such as running
// means. All of them begin with one value.
struct StateForm {
  std::string name;
  Layout use;
  double initial = 0;
};

// A part of the output that is computed for itself, from what it reads.
struct FormPiece {
  Layout use;
  std::vector<Box> outputs; // by position, in global indices
};

// Boundary values may be given as one.
inline bool isNumber(const Layout& layout) {
  return layout.shape() == Shape{1} && !layout.hasHalos();
}

// The sides of the input's use layout whose elements the caller supplies.
struct UserValues {
  std::optional<double> constant; // none: they are a second input
};

struct Form {
  // For types with one kernel: what kernel number k of the maps reads of the first input, and the
  // outputs that it computes at a position of the grid.
  const Layout& useOf(int k) const { return pieces.empty() ? uses.front() : pieces[k].use; }
  Box outputsOf(int k, int position) const {
    return pieces.empty() || position < 0 ? output.box(position) : pieces[k].outputs[position];
  }

  Signature signature;
  Layouts inputs,
      uses; // of the inputs that are converted; a second input with boundary values is not
  std::vector<ParameterForm> parameters = {};
  Layout output;
  std::optional<UserValues> userValues = {};
  // Empty, or the interior first, which reads the input as it lies, and then its strips.
  std::vector<FormPiece> pieces = {};
  std::vector<StateForm> states = {};
  // What fills linked halos of the first use, or folds those of the output.
  std::optional<PatchRule> links = {};
};

// The floating-point operations of one rank, and the elements that its windows read, which are
// those of im2col's matrix.
struct Work {
  double forward = 0, adjoint = 0, adjointParameters = 0;
  double columns = 0;
};

} // namespace tenon
