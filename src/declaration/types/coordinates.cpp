// SPDX-License-Identifier: BSD-2-Clause
// Coordinates as channels: the output has, optionally, the C channels of the input [batch, C,
// space...], followed by one channel per spatial dimension d that holds coordinate d of each point
// (see kCoordinateSettings). The rank with the input's last channels writes the coordinates,
// without communication.
//
// Labels per grid axis: n batch, c channels, d/h/w space, B (replicated), R (on the root of the
// axis only).
#include "declaration/core/elementwise.hpp"
#include "declaration/core/types.hpp"
#include "declaration/core/window_layout.hpp"
#include "sys/text/text.hpp"

#include <algorithm>

namespace tenon {

namespace {

constexpr OptionSpec kCoordinateSettings[] = {
    {"points", OptionSpec::Choice, "cells",
     "coordinate of point i of n: cells = (i + 1/2) / n, the centre of a cell; nodes = "
     "i / (n - 1), from boundary to boundary; periodic = i / n",
     "cells|nodes|periodic"},
    {"append", OptionSpec::Flag, "true",
     "whether the channels of the input come first; false: the coordinates alone"}};

class Coordinates final : public Elementwise {
public:
  Coordinates() : Elementwise("coordinates", kCoordinateSettings) {}

  Shape outputShape(const std::vector<Shape>& inputs) const override {
    Shape shape = inputs.front();
    const int spatial = spatialRankOf(shape, title());
    shape[1] = checkedSum(flag("append") ? shape[1] : 0, spatial, "the channels of coordinates");
    return shape;
  }
  SignatureTable rows(const std::vector<Shape>& inputs) const override {
    return imageTable(spatialRankOf(inputs.front(), title()), isLinear());
  }
  Form form(const Layouts& inputs, const Choice& choice) const override {
    Form form = Elementwise::form(inputs, choice);
    LayoutSpec spec = form.output.spec();
    spec.shape = outputShape({spec.shape});
    if (!flag("append"))
      std::ranges::fill(spec.cuts[1], 0);
    spec.cuts[1].back() = spec.shape[1];
    form.output = Layout(std::move(spec));
    return form;
  }
  KernelEntry kernel(const Form&) const override {
    return {.name = type(), .anyStrides = true, .isSource = !flag("append")};
  }
  std::string summary() const override { return text("points"); }
  Example example(ExampleDraw& draw) const override {
    return {{{"points", std::string(draw.of({"cells", "nodes", "periodic"}))},
             {"append", draw.chance(80)}},
            {draw.shape(3, 5)}};
  }

private:
  bool isLinear() const override { return false; }
};

} // namespace

std::unique_ptr<Declaration> declareCoordinates() {
  return std::make_unique<Coordinates>();
}

} // namespace tenon
