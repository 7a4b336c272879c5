// SPDX-License-Identifier: BSD-2-Clause
// The layers that several tests of this folder run: layerCases() returns one of each kind (windows,
// poolings, containers, a layer of user functions, ...) with a name and the shape of its input, and
// exampleCases() returns random settings of a type. drawInput() draws a random layout of the input
// on all ranks.
#pragma once

#include "declaration/core/types.hpp"
#include "dtensor/fill.hpp"
#include "support/layers.hpp"
#include "support/random_layout.hpp"
#include "support/world.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace tenon::test {

// How the output depends on input and parameters together. The tests of derivatives need it: the
// remainder of a Taylor expansion is of second order only for smooth layers, and is zero for linear
// ones; piecewise smooth layers (maxima, relu) can have a kink within a step.
enum class Smoothness { Smooth, Linear, PiecewiseLinear, PiecewiseSmooth };

// A layer that tests of all layer types run.
struct LayerCase {
  std::string name;
  Shape input;
  std::function<Ref<Layer>(CommPtr)> make;
  Smoothness smoothness = Smoothness::Smooth;
};

inline void PrintTo(const LayerCase& c, std::ostream* out) {
  *out << c.name;
}

// A function of the communicator that calls make(communicator, args...).
template <class Make, class... Args>
std::function<Ref<Layer>(CommPtr)> maker(Make make, Args... args) {
  return [=](CommPtr comm) { return make(comm, args...); };
}

// For images of 8 x 7 pixels in 2 channels. The convolution makes 8 x 5 of 3 channels, and the
// pooling 4 x 2, the 24 inputs of the affine layer.
template <PoolingMode Mode>
Ref<Layer> smallNet(CommPtr comm) {
  auto net = newLayer(comm, "sequential");
  appendLayer(
      *net, newConv(comm, 2, 3,
                    std::vector<Window>{{.kernel = 3, .padLow = 1, .padHigh = 1}, {.kernel = 3}}));
  appendLayer(*net, newPointwise(comm, "tanh"));
  appendLayer(*net, newPooling(comm, Mode,
                               std::vector<Window>{{.kernel = 2, .stride = 2},
                                                   {.kernel = 2, .stride = 2}}));
  appendLayer(*net, newLayer(comm, "flatten"));
  appendLayer(*net, newAffine(comm, 24, 5));
  return net;
}

// Redistributes to a grid of all ranks in reverse order, split along dimension 1. The pattern of
// the output layout has twice the batch size of the input, because a pattern is for any batch size.
inline Ref<Layer> repartition(CommPtr comm, Shape shape) {
  std::vector<int> reversed;
  for (int rank = comm->size(); rank-- > 0;)
    reversed.push_back(rank);
  shape[0] *= 2;
  return newRepartition(comm, Layout({.shape = shape,
                                      .grid = Grid::make({comm->size()}, reversed),
                                      .properties = {Property::shard(1)}}));
}

// tanh(x + conv(tanh(conv x))), both times the same convolution.
inline Ref<Layer> residualNet(CommPtr comm) {
  const Window same{.kernel = 3, .padLow = 1, .padHigh = 1};
  auto graph = newLayer(comm, "graph");
  const auto conv = newConv(comm, 3, 3, std::vector<Window>{same, same});
  int node = addGraphNode(*graph, conv, {-1});
  node = addGraphNode(*graph, newPointwise(comm, "tanh"), {node});
  node = addGraphNode(*graph, conv, {node});
  node = addGraphNode(*graph, newLayer(comm, "add"), {-1, node});
  addGraphNode(*graph, newPointwise(comm, "tanh"), {node});
  return graph;
}

// One level of a U-Net. The output of the first convolution (`left`) is read by the pooling and by
// another convolution; the layers after the pooling have half the width and run on another process
// grid (repartition). The concatenation joins the channels of both branches.
inline Ref<Layer> skipNet(CommPtr comm) {
  using W = std::vector<Window>;
  const Window same{.kernel = 3, .padLow = 1, .padHigh = 1}, half{.kernel = 2, .stride = 2},
      to{.kernel = 4, .stride = 2, .padLow = 1, .padHigh = 1};
  auto graph = newLayer(comm, "graph");
  const int left = addGraphNode(*graph, newConv(comm, 2, 3, W{same, same}), {-1});
  const int pooled =
      addGraphNode(*graph, newPooling(comm, PoolingMode::AverageIncludePad, W{half, half}), {left});
  const int moved = addGraphNode(*graph, repartition(comm, {3, 3, 4, 4}), {pooled});
  const int narrow = addGraphNode(*graph, newConv(comm, 3, 2, W{same, same}), {moved});
  const int skipped = addGraphNode(*graph, newConv(comm, 3, 4, W{to, to}), {left});
  const int joined = addGraphNode(*graph, newConcatenate(comm, 1), {skipped, narrow, moved});
  addGraphNode(*graph, newPointwise(comm, "sigmoid"), {joined});
  return graph;
}

// A layer with square windows on a globe, with the same padding on all sides. `vectors` has pairs
// of channels, the components of a vector along latitudes and longitudes, which change their sign
// at a pole. For example, onGlobe(comm, "conv", 3, 4, 3, 1, "pole", {1, 2}) is a convolution 3 -> 4
// with windows of 3 x 3 and padding 1, for a scalar in channel 0 and a vector in channels 1 and 2.
inline Ref<Layer> onGlobe(CommPtr comm, const char* type, Index in, Index out, Index kernel,
                          Index padding, const char* poles, std::vector<Index> vectors) {
  const auto layer = newLayer(std::move(comm), type);
  if (layer->declaration().settings().has("in_channels")) {
    layer->set("in_channels", in);
    layer->set("out_channels", out);
  }
  layer->set("kernel", std::vector<Index>{kernel, kernel});
  layer->set("padding", std::vector<Index>{padding, padding});
  layer->setText("boundary", std::string(poles) + ",periodic");
  if (!vectors.empty())
    layer->set("vectors", std::move(vectors));
  return layer;
}

// A U-Net on a globe, for a scalar and a vector: windows of both levels continue beyond the poles,
// on the coarse one by more rows than it has.
template <int kRowsAtPoles = 0>
Ref<Layer> globeNet(CommPtr comm) {
  const char* poles = kRowsAtPoles ? "pole_point" : "pole";
  auto graph = newLayer(comm, "graph");
  const int fine = addGraphNode(*graph, onGlobe(comm, "conv", 3, 4, 3, 1, poles, {1, 2}), {-1});
  const int left = addGraphNode(*graph, newPointwise(comm, "tanh"), {fine});
  const auto pooling = onGlobe(comm, "averagepooling", 4, 4, 4, 1, poles, {});
  pooling->set("stride", std::vector<Index>{2, 2});
  const int coarse = addGraphNode(*graph, pooling, {left});
  const auto wide = onGlobe(comm, "conv", 4, 4, 3, 4, poles, {3, 2});
  wide->set("dilation", std::vector<Index>{4, 4});
  const int bottom = addGraphNode(*graph, wide, {coarse});
  const auto finer = onGlobe(comm, "transposedconv", 4, 2, 4, 1, poles, {0, 1});
  finer->set("stride", std::vector<Index>{2, 2});
  const int up = addGraphNode(*graph, finer, {bottom});
  const int joined = addGraphNode(*graph, newConcatenate(comm, 1), {left, up});
  addGraphNode(*graph, onGlobe(comm, "conv", 6, 3, 3, 1, poles, {4, 5}), {joined});
  return graph;
}

// An instance norm of three channels in which elements count by the area of their columns, whose
// latitudes are in dimension 3.
inline Ref<Layer> normByArea(CommPtr comm) {
  const auto layer = newLayer(std::move(comm), "instancenorm");
  layer->set("channels", Index(3));
  layer->set("affine", true);
  layer->setText("area", "cells");
  layer->set("area_dim", Index(3));
  return layer;
}

// A layer of user functions: y[2n+c, j] = a[c] x[n, j]^2 for c = 0, 1. It supports inputs that are
// split along columns (S1) or replicated (B).
inline Ref<Layer> shell(CommPtr comm) {
  auto layer = newLayer(comm, "shell");
  shellOf(*layer).setLabels("S1,B");
  shellOf(*layer).addParameter("a", {2}, 1, 1);
  ShellFunctions& f = shellOf(*layer).functions();
  const auto each = [](const DTensor& x, auto&& visit) { // visit(c, index in x, index in y)
    const Index columns = x.extent()[1];
    for (Index i = 0; i < x.localElements(); ++i)
      for (Index c = 0; c < 2; ++c)
        visit(c, i, (2 * (i / columns) + c) * columns + i % columns);
  };
  f.setUp = [](const Layout& x) {
    LayoutSpec spec = x.spec();
    spec.shape[0] *= 2;
    spec.cuts[0] = {0, spec.shape[0]};
    return Layout(spec);
  };
  f.apply = [=, self = layer.get()](const DTensor& x, DTensor& y) {
    visitFloating(x.dataType(), [&]<class T>(T) {
      const T *in = x.data<T>(), *a = shellOf(*self).call().values[0]->template data<T>();
      T* out = y.mutableData<T>();
      each(x, [&](Index c, Index i, Index o) { out[o] = a[c] * in[i] * in[i]; });
    });
  };
  f.tangent = [=, self = layer.get()](const KernelPoint& point, const DTensor* dx, DTensor& dy) {
    visitFloating(dy.dataType(), [&]<class T>(T) {
      const T *in = point.x->data<T>(), *a = shellOf(*self).call().values[0]->template data<T>();
      const T* v = dx ? dx->data<T>() : nullptr;
      const DTensor* tangent = shellOf(*self).call().tangents[0];
      const T* da = tangent ? tangent->data<T>() : nullptr;
      T* out = dy.mutableData<T>();
      each(*point.x, [&](Index c, Index i, Index o) {
        out[o] = (v ? 2 * a[c] * in[i] * v[i] : T(0)) + (da ? da[c] * in[i] * in[i] : T(0));
      });
    });
  };
  f.adjoint = [=, self = layer.get()](const KernelPoint& point, const DTensor& dy, DTensor* dx) {
    visitFloating(dy.dataType(), [&]<class T>(T) {
      const T *in = point.x->data<T>(), *a = shellOf(*self).call().values[0]->template data<T>();
      const T* g = dy.data<T>();
      T* da = shellOf(*self).call().gradients[0]->template mutableData<T>();
      T* out = dx ? dx->mutableData<T>() : nullptr;
      each(*point.x, [&](Index c, Index i, Index o) {
        da[c] += g[o] * in[i] * in[i];
        if (out)
          out[i] = (c == 0 ? T(0) : out[i]) + 2 * a[c] * in[i] * g[o];
      });
    });
  };
  return layer;
}

inline Ref<Layer> groupedConvolution(CommPtr comm, Index in, Index out, Index groups) {
  auto layer = newConv(comm, in, out,
                       std::vector<Window>{{.kernel = 3, .padLow = 2}, {.kernel = 2, .stride = 2}});
  layer->set("groups", Index(groups));
  return layer;
}

// Sets a target of a loss, with a copy of the whole tensor on every rank.
inline void setTarget(Layer& layer, const Example& example) {
  const Layout everywhere({.shape = example.target,
                           .grid = Grid::make({layer.comm()->size()}),
                           .properties = {Property::broadcast()}});
  const Index classes = example.classes;
  auto target =
      makeRef<DTensor>(layer.comm(), everywhere, classes > 0 ? TENON_INT64 : TENON_FLOAT64);
  fillByIndex(*target, [=](Index i) {
    return classes > 0 ? static_cast<double>((5 * i + 2) % classes) : std::sin(double(i));
  });
  layer.setTarget(target);
}

// The examples with one input that a type gives for the first seeds.
inline std::vector<LayerCase> exampleCases(const std::string& type, int seeds) {
  std::vector<LayerCase> cases;
  for (int seed = 0; seed < seeds; ++seed) {
    ExampleDraw draw(seed);
    const Example example = makeDeclaration(type)->example(draw);
    if (example.inputs.size() == 1)
      cases.push_back({type, example.inputs[0],
                       [=](CommPtr comm) {
                         const auto layer = newLayer(comm, type);
                         for (const auto& [name, value] : example.settings)
                           layer->set(name, value);
                         if (!example.target.empty())
                           setTarget(*layer, example);
                         if (example.low == -1 && example.high == 1)
                           return layer;
                         // A layer that needs inputs of another range follows a map into it, of all
                         // numbers, since inputs can be sums of contributions.
                         const auto inRange = newLayer(comm, "sequential");
                         appendLayer(*inRange, newPointwise(comm, "tanh"));
                         const auto range = newPointwise(comm, "scale");
                         range->set("factor", (example.high - example.low) / 2);
                         range->set("shift", (example.high + example.low) / 2);
                         appendLayer(*inRange, range);
                         appendLayer(*inRange, layer);
                         return inRange;
                       },
                       Smoothness::PiecewiseSmooth});
  }
  return cases;
}

// All types except those that need more than settings (a layout, layers, or lists of a mesh), and
// except `rows`, whose order of rows depends on the partition.
inline std::vector<std::string> typesWithExamples() {
  std::vector<std::string> types = declarationNames();
  std::erase_if(types, [](const std::string& type) {
    return type == "repartition" || type == "rows" || makeDeclaration(type)->takesLists();
  });
  return types;
}

inline std::vector<LayerCase> layerCases() {
  using W = std::vector<Window>;
  std::vector<LayerCase> cases = {
      {"conv_same",
       {4, 3, 8, 7},
       maker(
           newConv, Index(3), Index(4),
           W{{.kernel = 3, .padLow = 1, .padHigh = 1}, {.kernel = 5, .padLow = 2, .padHigh = 2}})},
      {"conv_stride_dilation",
       {3, 2, 11, 9},
       maker(newConv, Index(2), Index(3),
             W{{.kernel = 3, .stride = 2, .dilation = 2, .padLow = 3},
               {.kernel = 2, .stride = 3, .padHigh = 1}})},
      {"conv_wide",
       {2, 1, 5, 6},
       maker(newConv, Index(1), Index(2),
             W{{.kernel = 5}, {.kernel = 6, .padLow = 5, .padHigh = 5}})},
      {"conv_1d",
       {2, 2, 13},
       maker(newConv, Index(2), Index(2),
             W{{.kernel = 4, .stride = 2, .padLow = 1, .padHigh = 2}})},
      {"conv_3d",
       {2, 2, 4, 5, 3},
       maker(newConv, Index(2), Index(2),
             W{{.kernel = 2}, {.kernel = 3, .padLow = 1}, {.kernel = 1}})},
      {"conv_groups", {3, 6, 7, 6}, [](CommPtr comm) { return groupedConvolution(comm, 6, 9, 3); }},
      {"conv_depthwise",
       {3, 5, 7, 6},
       [](CommPtr comm) { return groupedConvolution(comm, 5, 5, 5); }},
      {"maxpool",
       {3, 2, 9, 8},
       maker(newPooling, PoolingMode::Max,
             W{{.kernel = 3, .stride = 2, .padLow = 1}, {.kernel = 2, .stride = 2}}),
       Smoothness::PiecewiseLinear},
      {"avgpool",
       {3, 2, 9, 8},
       maker(newPooling, PoolingMode::AverageExcludePad,
             W{{.kernel = 3, .stride = 2, .padLow = 1, .padHigh = 1},
               {.kernel = 2, .stride = 1, .dilation = 3}}),
       Smoothness::Linear},
      {"avgpool_pad",
       {3, 2, 9, 8},
       maker(newPooling, PoolingMode::AverageIncludePad,
             W{{.kernel = 3, .stride = 3, .padLow = 1, .padHigh = 1}, {.kernel = 2, .stride = 2}}),
       Smoothness::Linear},
      {"maxpool_ceil",
       {3, 2, 9, 8},
       maker(newPooling, PoolingMode::Max,
             W{{.kernel = 2, .stride = 2, .ceil = true},
               {.kernel = 3, .stride = 3, .padLow = 1, .ceil = true}}),
       Smoothness::PiecewiseLinear},
      {"avgpool_ceil",
       {3, 2, 9, 8},
       maker(newPooling, PoolingMode::AverageIncludePad,
             W{{.kernel = 2, .stride = 2, .ceil = true},
               {.kernel = 3, .stride = 2, .padLow = 1, .padHigh = 1, .ceil = true}}),
       Smoothness::Linear},
      {"conv_periodic",
       {2, 2, 7, 5},
       maker(newConv, Index(2), Index(3),
             W{{.kernel = 5,
                .padLow = 3,
                .padHigh = 1,
                .lowMode = Boundary::Periodic,
                .highMode = Boundary::Periodic},
               {.kernel = 3,
                .stride = 2,
                .padLow = 1,
                .padHigh = 1,
                .lowMode = Boundary::Reflect,
                .highMode = Boundary::Replicate}})},
      {"conv_boundary_constant",
       {2, 2, 7},
       [](CommPtr comm) {
         auto layer = newConv(comm, 2, 2,
                              W{{.kernel = 4,
                                 .padLow = 2,
                                 .padHigh = 3,
                                 .lowMode = Boundary::Values,
                                 .highMode = Boundary::Periodic}});
         layer->set("boundary_constant", double(1.5));
         return layer;
       }},
      {"maxpool_reflect",
       {3, 2, 9, 8},
       maker(newPooling, PoolingMode::Max,
             W{{.kernel = 3,
                .stride = 2,
                .padLow = 2,
                .padHigh = 1,
                .lowMode = Boundary::Reflect,
                .highMode = Boundary::Zero},
               {.kernel = 2, .stride = 2}}),
       Smoothness::PiecewiseLinear},
      {"avgpool_replicate",
       {3, 2, 9, 8},
       maker(newPooling, PoolingMode::AverageExcludePad,
             W{{.kernel = 3,
                .stride = 2,
                .padLow = 1,
                .padHigh = 2,
                .ceil = true,
                .lowMode = Boundary::Replicate,
                .highMode = Boundary::Periodic},
               {.kernel = 2, .padLow = 1}}),
       Smoothness::Linear},
      {"net", {5, 2, 8, 7}, smallNet<PoolingMode::Max>, Smoothness::PiecewiseSmooth},
      {"net_average", {5, 2, 8, 7}, smallNet<PoolingMode::AverageIncludePad>},
      {"repartition",
       {5, 4, 3},
       [](CommPtr comm) { return repartition(comm, {5, 4, 3}); },
       Smoothness::Linear},
      {"residual", {2, 3, 6, 5}, residualNet},
      {"skip", {3, 2, 8, 8}, skipNet},
      {"instance_norm_by_area", {2, 3, 4, 6}, normByArea},
      {"globe", {2, 3, 6, 8}, globeNet<0>},
      {"globe_of_points", {1, 3, 4, 12}, globeNet<1>},
      {"shell", {4, 6}, shell},
  };
  // Adds a case again with outputs in blocks of equal size. Without this setting the blocks of
  // these windows differ in size, or some are empty.
  const auto addBalanced = [&](LayerCase one) {
    one.name += "_balanced";
    one.make = [make = one.make](CommPtr comm) {
      const auto layer = make(comm);
      layer->setText("output_cuts", "balanced");
      return layer;
    };
    cases.push_back(std::move(one));
  };
  for (const char* name :
       {"conv_stride_dilation", "conv_wide", "conv_1d", "conv_periodic", "avgpool", "maxpool_ceil"})
    addBalanced(*std::ranges::find(cases, name, &LayerCase::name));
  for (LayerCase& one : exampleCases("transposedconv", 3)) {
    one.name = "transposedconv_" + std::to_string(cases.size());
    addBalanced(std::move(one));
  }
  for (const std::string& type : typesWithExamples()) {
    const std::vector<LayerCase> examples = exampleCases(type, 10);
    if (!examples.empty() && !makeDeclaration(type)->isRandom())
      cases.push_back(std::ranges::max(
          examples, {}, [](const LayerCase& example) { return elements(example.input); }));
  }
  return cases;
}

// A random layout of the input on all ranks: a process grid of one or two axes, any property
// (split, replicated, on the root, partial sums), and split points at random places.
inline Layout drawInput(LayoutDraw& draw, const Shape& shape) {
  return draw.layout(shape, draw.grid(world()->size(), 2), /*haloPercent=*/0,
                     /*coveringHalos=*/true);
}

} // namespace tenon::test
