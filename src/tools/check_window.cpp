// SPDX-License-Identifier: BSD-2-Clause
#include "tools/check_window.hpp"

#include "tools/check_layer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon::tools {

namespace {

struct Window {
  Indices extents, kernel, stride, dilation, low, high;
  int spatial() const { return static_cast<int>(kernel.size()); }
  std::string text() const {
    return fmt::format("kernel {} stride {} dilation {} padding {}|{}", fmt::join(kernel, "x"),
                       fmt::join(stride, "x"), fmt::join(dilation, "x"), fmt::join(low, "x"),
                       fmt::join(high, "x"));
  }
};

// mostPadding: of the kernel's reach, in percent; pooling refuses windows that see padding alone.
Window drawWindow(Draw& draw, int mostPadding) {
  Window w;
  const int spatial = draw.of<int>({1, 1, 2, 2, 2, 3});
  for (int d = 0; d < spatial; ++d) {
    const int kernel = draw.between(1, spatial == 3 ? 3 : 4), dilation = draw.of<int>({1, 1, 2});
    const int reach = (kernel - 1) * dilation, most = reach * mostPadding / 100;
    w.kernel.push_back(kernel);
    w.dilation.push_back(dilation);
    w.stride.push_back(draw.of<int>({1, 1, 2, 3}));
    w.low.push_back(draw.upTo(most));
    w.high.push_back(draw.upTo(most));
    const int least = std::max<int>(1, reach + 1 - static_cast<int>(w.low[d] + w.high[d]));
    w.extents.push_back(draw.chance(4) ? 1 : draw.between(least, least + (spatial == 1 ? 8 : 4)));
  }
  return w;
}

void setWindow(TenonLayer layer, const Window& w) {
  require(TenonLayerSetStride(layer, w.stride.data()));
  require(TenonLayerSetDilation(layer, w.dilation.data()));
  require(TenonLayerSetPadding(layer, w.low.data(), w.high.data()));
}

Indices inputShape(Index batch, Index channels, const Window& w) {
  Indices shape = {batch, channels};
  shape.insert(shape.end(), w.extents.begin(), w.extents.end());
  return shape;
}

// n, B, R, those given, and the last of d, h, w.
std::vector<std::string> lettersFor(int spatial, std::vector<std::string> more) {
  const std::vector<std::string> space = {"d", "h", "w"};
  more.insert(more.end(), space.end() - spatial, space.end());
  more.insert(more.end(), {"n", "B", "R"});
  return more;
}

} // namespace

void checkConvolution(Case& c) {
  const Window w = drawWindow(c.draw, 100);
  const Index groups = c.draw.of<int>({1, 1, 1, 2, 3});
  const Index in = groups * c.draw.between(1, 2), out = groups * c.draw.between(1, 3);
  const bool bias = c.draw.chance(70);
  c.text += fmt::format(" to {} channels in {} groups {}{}", out, groups, w.text(),
                        bias ? "" : " without bias");
  checkLayer(c, {.inputs = {inputShape(c.draw.between(0, 3), in, w)},
                 .make =
                     [=](MPI_Comm comm, const MeshSpec*) {
                       Layer layer;
                       require(TenonLayerCreateConv(comm, w.spatial(), in, out, w.kernel.data(),
                                                    layer.out()));
                       setWindow(layer, w);
                       require(TenonLayerSetGroups(layer, groups));
                       require(TenonLayerSetBias(layer, bias));
                       return layer;
                     },
                 .letters = lettersFor(w.spatial(),
                                       groups > 1 ? std::vector<std::string>{"g", "P"}
                                                  : std::vector<std::string>{"o", "i", "P"})});
}

void checkPooling(Case& c) {
  constexpr const char* kModes[] = {"max", "average with padding", "average without padding"};
  const auto mode = static_cast<TenonPoolingMode>(c.draw.upTo(2));
  const Window w = drawWindow(c.draw, 50);
  const bool ceil = c.draw.chance(40);
  c.text += fmt::format(" {} {}{}", kModes[mode], w.text(), ceil ? " ceil" : "");
  checkLayer(c, {.inputs = {inputShape(c.draw.between(0, 3), c.draw.between(1, 4), w)},
                 .make =
                     [=](MPI_Comm comm, const MeshSpec*) {
                       Layer layer;
                       require(TenonLayerCreatePooling(comm, mode, w.spatial(), w.kernel.data(),
                                                       layer.out()));
                       setWindow(layer, w);
                       require(TenonLayerSetCeilMode(layer, ceil));
                       return layer;
                     },
                 .letters = lettersFor(w.spatial(), mode == TENON_POOLING_MAX
                                                        ? std::vector<std::string>{"c"}
                                                        : std::vector<std::string>{"c", "P"})});
}

} // namespace tenon::tools
