// SPDX-License-Identifier: BSD-2-Clause
// The layouts of layers with lists of a mesh. A layer with lists, such as a gather by the edges of
// a mesh, has no choice: its rows are distributed as its lists are, on their process grid. The
// native layouts of a layer are those that it has in a network without a plan, for the layouts of
// the inputs that the caller passes; all layers of such a network have them. Native layouts have
// the split points of the lists, whereas other parallelizations of layers without lists have even
// ones.
#pragma once

#include "planner/parallelizations/declared_network.hpp"

#include <string>
#include <string_view>

namespace tenon {

// The layouts in which a layer reads its inputs, without halos, and the layouts of its output and
// of the outputs of the layers that follow it without a parallelization of their own.
struct NativeLayouts {
  Layouts uses, outputs;
};
// One entry for each layer. Throws the error of a layer that cannot have these inputs, and
// TENON_ERR_SUPPORT for patches on which a layer would work independently.
std::vector<NativeLayouts> nativeLayouts(const DeclaredNetwork& network, const Layouts& inputs);

// One layout for each pair of a process grid and properties that layers without a choice have,
// except those of pinned ends. The names appear in parallelizations.
struct ListedField {
  std::string name;
  Layout layout;
};
std::vector<ListedField> listedFields(const DeclaredNetwork& network,
                                      const std::vector<NativeLayouts>& natives,
                                      const std::vector<std::optional<Layout>>& pinned);
// Ends the text of a parallelization of a layer without a choice, after the name of the field.
inline constexpr std::string_view kListedEnd = "lists";

} // namespace tenon
