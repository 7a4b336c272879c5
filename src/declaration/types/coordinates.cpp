// SPDX-License-Identifier: BSD-2-Clause
// Declares the layer `coordinates`, which gives a network the position of each grid point. For an
// input [batch, C, space...] with d spatial dimensions, the output has, optionally, the C channels
// of the input, followed by d channels: channel C + k holds coordinate k of each point (see
// kCoordinateSettings).
//
// The rank whose block has the input's last channel also has the channels of coordinates, which it
// computes from global indices without communication. With C = 5 in two dimensions, channels split
// at 0, 3, 5 become channels split at 0, 3, 7. The kernel is in layer/types/coordinates.cpp.
//
// Labels, which state what a grid axis does to x and y: n (splits the batch), c (channels), d/h/w
// (a spatial dimension), B (replicates them), R (holds them on its root only). A partial sum is
// summed first, because the coordinates must be added only once.
#include "declaration/core/elementwise.hpp"
#include "declaration/core/types.hpp"
#include "declaration/core/window_layout.hpp"
#include "sys/text/text.hpp"

#include <algorithm>

namespace tenon {

namespace {

// The fields of a setting are name, type, default (nullptr: none), help, choices and bounds.
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
  // The output has the layout of the input, with more channels in its last block of channels.
  // Without the channels of the input, the other blocks are empty.
  Form form(const Layouts& inputs, const Choice& choice) const override {
    Form form = Elementwise::form(inputs, choice);
    LayoutSpec spec = form.output.spec();
    spec.shape = outputShape({spec.shape});
    if (!flag("append"))
      std::ranges::fill(spec.cuts[kChannelDim], 0);
    spec.cuts[kChannelDim].back() = spec.shape[kChannelDim];
    form.output = Layout(std::move(spec));
    return form;
  }
  // isSource: the kernel does not read the input if only the coordinates are returned.
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
