// SPDX-License-Identifier: BSD-2-Clause
#include "layer/repartition_layer.hpp"

#include "declaration/result_layout.hpp"
#include "layer/map_setup.hpp"
#include "layer/traffic_text.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

class RepartitionSetup final : public MapSetup {
public:
  RepartitionSetup(const Layer& layer, const Layout& input, const Layout& output)
      : MapSetup(layer, mapsOf(layer, input, output)) {}

private:
  static BoundMaps mapsOf(const Layer& layer, const Layout& input, const Layout& output) {
    BoundMaps maps(layer.comm(), layer.dataType());
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

RepartitionLayer::RepartitionLayer(CommPtr comm, Layout output)
    : OneInputLayer(std::move(comm)), output_(std::move(output)) {}

std::string RepartitionLayer::ownSettings() const {
  return "to " + output_.describe();
}

std::unique_ptr<Setup> RepartitionLayer::makeSetup(const Layout& input) {
  if (!signature().empty())
    throw Error(TENON_ERR_OPTION, fmt::format("{} does not take a signature, but \"{}\" was set; "
                                              "its output layout is fixed when it is created",
                                              title(), signature()));
  return std::make_unique<RepartitionSetup>(*this, input,
                                            layoutLike(output_, input.shape(), title()));
}

} // namespace tenon
