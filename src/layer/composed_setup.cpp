// SPDX-License-Identifier: BSD-2-Clause
#include "layer/composed_setup.hpp"

#include "layer/traffic_text.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

std::string composedFacts(const Setup& setup) {
  const BoundMaps& maps = setup.maps();
  const Layout& input = setup.inputs().front();
  const Mesh& mesh = input.mesh();
  return fmt::format("  process grid {}, signature {}\n", mesh.describe(), setup.signature()) +
         viewLine("input", input, maps.conversionFrom(maps.list().inputs().front()), mesh) +
         viewLine("output", setup.output(), mesh);
}

} // namespace

std::unique_ptr<Setup> setUpComposed(Layer& layer, const Form& form, const MakeKernel& make) {
  return std::make_unique<Setup>(BoundMaps(layer, form, make), form.signature.describe(),
                                 composedFacts);
}

} // namespace tenon
