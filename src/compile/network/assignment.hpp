// SPDX-License-Identifier: BSD-2-Clause
// What is chosen for a layer of a network besides its settings, by a plan (planner/): how the layer
// is distributed, and how it runs. Set-up reads these choices in addition to the settings; it never
// writes them into the user's layers. Therefore a layer of a planned network that is also set up
// alone has its own settings then, and a saved network does not contain a plan.
#pragma once

#include "declaration/core/declaration.hpp"

#include <optional>
#include <string>

namespace tenon {

// The choice for one layer. Members without a value leave the decision to the layer's settings.
struct NodeChoice {
  // Index labels for the axes of the grid on which it reads its first input, such as "n,h" (setting
  // signature).
  std::optional<std::string> labels = {};
  // The layouts in which it reads its inputs, for instance on another process grid. They are for
  // any batch: their extents are replaced by the extents of the inputs. Empty: the inputs' own
  // layouts.
  Layouts uses = {};
  std::optional<OutputCuts> cuts = {}; // split points of its output (setting output_cuts)
  bool computesHalo = false; // layers before it compute the halo of its input (setting halo)
  bool recomputes = false;   // the adjoint computes its output again (setting recompute)

  // The text that must be equal on all ranks; "" if nothing is chosen.
  std::string agreedText() const;
};

// The form of a layer, the layouts of all its arrays, for the layouts of its inputs. `choice` can
// be null. `inPieces` and `computedHalo` are Choice::overlap and Choice::computedHalo of
// declaration/core/form.hpp. Throws the errors of Declaration::form().
Form formOf(const Declaration& type, const Layouts& inputs, const NodeChoice* choice,
            bool inPieces = false, const std::optional<Layout>& computedHalo = {});

} // namespace tenon
