// SPDX-License-Identifier: BSD-2-Clause
// What is chosen for a layer of a network besides its settings, by a plan (planner/): how the layer
// is distributed, and how it runs. Set-up reads choices beside the settings; it never writes them
// into the user's layers. A layer of a planned network that is also set up by itself therefore has
// its own settings, and a network that is saved does not contain a plan.
#pragma once

#include "declaration/core/declaration.hpp"

#include <optional>
#include <string>

namespace tenon {

// The choice for one layer. What is not chosen follows the settings of the layer.
struct NodeChoice {
  // Index labels for the grid axes of its first use, such as "n,h" (setting signature).
  std::optional<std::string> labels = {};
  // The layouts in which it reads its inputs, for instance on another process grid. They apply to
  // any batch: their extents are replaced by those of the inputs. Empty: those of the inputs.
  Layouts uses = {};
  std::optional<OutputCuts> cuts = {}; // how its output is cut (setting output_cuts)
  bool computesHalo = false; // layers before it compute the halo of its input (setting halo)
  bool recomputes = false;   // the adjoint computes its output again (setting recompute)

  // The text that must be equal on all ranks; "" if nothing is chosen.
  std::string agreedText() const;
};

// The form of a layer, the layouts of all its arrays, for the layouts of its inputs. `choice` can
// be null. `inPieces` and `computedHalo` are those of declaration/core/form.hpp (Choice). Throws
// the errors of Declaration::form().
Form formOf(const Declaration& type, const Layouts& inputs, const NodeChoice* choice,
            bool inPieces = false, const std::optional<Layout>& computedHalo = {});

} // namespace tenon
