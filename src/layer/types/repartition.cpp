// SPDX-License-Identifier: BSD-2-Clause
// A conversion as a layer: its list is one operator and no kernel. What is left to say here is the
// view, which counts the messages at the output, where other layers count those of their inputs.
#include "layer/core/layer.hpp"
#include "layer/core/layer_types.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

std::string repartitionFacts(const Setup& setup) {
  const BoundMaps& maps = setup.maps();
  const Layout& input = setup.inputs().front();
  const Grid& grid = input.grid();
  return fmt::format("  process grid {}\n", grid.describe()) + viewLine("input", input, grid) +
         viewLine("output", setup.output(), grid,
                  ": " + trafficText(*maps.conversionTo(maps.list().output())));
}

} // namespace

std::unique_ptr<Setup> setUpRepartition(Layer& layer, const Layouts& inputs) {
  return std::make_unique<Setup>(BoundMaps(layer, layer.form(inputs), {}), "", repartitionFacts);
}

} // namespace tenon
