// SPDX-License-Identifier: BSD-2-Clause
// Makes the form of a layer from its settings and from what a plan has chosen for it. Set-up and
// planner call formOf(), so a layer has the form that was planned.
#include "compile/network/assignment.hpp"

#include "declaration/core/result_layout.hpp"

namespace tenon {

std::string NodeChoice::agreedText() const {
  std::string text;
  if (labels)
    text += ", labels " + *labels;
  for (const Layout& use : uses)
    text += ", used as " + use.describe();
  if (cuts)
    text += *cuts == OutputCuts::Balanced ? ", balanced cuts" : ", aligned cuts";
  if (computesHalo)
    text += ", computed halo";
  if (recomputes)
    text += ", recomputed";
  return text;
}

// Chosen layouts replace those of the inputs. Split points of the actual inputs remain where both
// are split by the same axes.
Form formOf(const Declaration& type, const Layouts& inputs, const NodeChoice* choice, bool inPieces,
            const std::optional<Layout>& computedHalo) {
  const NodeChoice none;
  const NodeChoice& chosen = choice ? *choice : none;
  Layouts useLayouts = inputs;
  for (std::size_t i = 0; i < std::min(chosen.uses.size(), useLayouts.size()); ++i)
    useLayouts[i] =
        withCutsOf(inputs[i], layoutLike(chosen.uses[i], inputs[i].shape(), type.title()));
  Form form = type.form(
      useLayouts, {.labels = chosen.labels ? *chosen.labels : type.value<std::string>("signature"),
                   .overlap = inPieces,
                   .arrives = !(useLayouts == inputs),
                   .cuts = chosen.cuts,
                   .computedHalo = computedHalo});
  form.inputs = inputs;
  return form;
}

} // namespace tenon
