// SPDX-License-Identifier: BSD-2-Clause
// Derives the layouts that the layers of a network with lists have without a plan, and the process
// grids on which they are distributed (native_layouts.hpp). Layers are visited in network order,
// since each reads the native layouts of those before it. Nothing is communicated: a layer with
// lists knows the layout that they give it.
#include "planner/parallelizations/native_layouts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

Layouts withoutHalos(const Layouts& layouts) {
  Layouts plain;
  for (const Layout& layout : layouts)
    plain.push_back(layout.withoutHalos());
  return plain;
}

// The native layouts of one layer and its dependents, for the layouts of its inputs.
NativeLayouts nativeLayoutsOf(const DeclaredLayer& layer, const Layouts& inputs) {
  layer.declaration->checkLinks(inputs);
  const Form form = layer.declaration->form(inputs, {});
  NativeLayouts native{.uses = withoutHalos(form.uses), .outputs = {form.output}};
  // Boundary values from the user are read in their own layout.
  for (std::size_t i = native.uses.size(); i < inputs.size(); ++i)
    native.uses.push_back(inputs[i]);
  for (const DependentLayer& dependent : layer.dependents) {
    const Layouts read{native.outputs[static_cast<std::size_t>(dependent.reads)]};
    dependent.declaration->checkLinks(read);
    native.outputs.push_back(dependent.declaration->form(read, {}).output);
  }
  return native;
}

} // namespace

std::vector<NativeLayouts> nativeLayouts(const DeclaredNetwork& network, const Layouts& inputs) {
  std::vector<NativeLayouts> natives;
  for (int number = 0; number < static_cast<int>(network.layers.size()); ++number) {
    const DeclaredLayer& layer = network.layers[number];
    std::vector<std::optional<Layout>> reads(layer.inputs.size());
    for (const DeclaredMove& read : network.reads)
      if (read.to == number)
        reads[read.input] = inputs.at(read.source);
    for (const DeclaredMove& move : network.moves)
      if (move.to == number)
        reads[move.input] = natives[move.from].outputs[move.output];
    Layouts readLayouts;
    for (std::optional<Layout>& read : reads)
      readLayouts.push_back(std::move(read).value());
    natives.push_back(nativeLayoutsOf(layer, readLayouts));
  }
  return natives;
}

std::vector<ListedField> listedFields(const DeclaredNetwork& network,
                                      const std::vector<NativeLayouts>& natives,
                                      const std::vector<std::optional<Layout>>& pinned) {
  std::vector<ListedField> fields;
  for (std::size_t layer = 0; layer < network.layers.size(); ++layer) {
    // Such a layer cannot be moved to other ranks (native_layouts.hpp); all others have a choice.
    if (!network.hasLists || !network.layers[layer].declaration->dependsOnRowDistribution())
      continue;
    for (const Layout& layout : {natives[layer].uses.front(), natives[layer].outputs.front()}) {
      const Layout plain = layout.withoutHalos();
      const auto isLike = [&](const Layout& known) {
        return known.grid() == plain.grid() && known.properties() == plain.properties();
      };
      if (std::ranges::none_of(fields, isLike, &ListedField::layout) &&
          std::ranges::none_of(
              pinned, [&](const std::optional<Layout>& end) { return end && isLike(*end); }))
        fields.push_back(
            {.name = fields.empty() ? "mesh" : fmt::format("mesh{}", fields.size() + 1),
             .layout = plain});
    }
  }
  return fields;
}

} // namespace tenon
