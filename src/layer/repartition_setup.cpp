// SPDX-License-Identifier: BSD-2-Clause
#include "layer/layer.hpp"
#include "layer/layer_types.hpp"
#include "layer/traffic_text.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

class RepartitionSetup final : public Setup {
public:
  RepartitionSetup(const Layer& layer, const Layout& input, const Layout& output)
      : Setup(mapsOf(layer, input, output)) {}

private:
  static BoundMaps mapsOf(const Layer& layer, const Layout& input, const Layout& output) {
    BoundMaps maps(layer);
    const ValueId x = maps.list().input("x", input);
    maps.apply(OperatorKind::Conversion, x, maps.list().output("y", output));
    return maps;
  }

  std::string facts() const override {
    const Layout& input = inputs().front();
    const Mesh& mesh = input.mesh();
    return fmt::format("  process grid {}\n", mesh.describe()) + viewLine("input", input, mesh) +
           viewLine("output", output(), mesh,
                    ": " + trafficText(*maps().conversionTo(maps().list().output())));
  }
};

} // namespace

std::unique_ptr<Setup> setUpRepartition(Layer& layer, const Layouts& inputs) {
  return std::make_unique<RepartitionSetup>(layer, inputs.front(), layer.form(inputs).output);
}

} // namespace tenon
