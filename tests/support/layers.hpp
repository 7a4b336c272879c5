// SPDX-License-Identifier: BSD-2-Clause
// Layers of each type, made as the calls of the public interface make them.
#pragma once

#include "declaration/core/windowed.hpp"
#include "kernels/pooling/pooling.hpp"
#include "layer/core/layer_types.hpp"
#include "layer/networks/network.hpp"
#include "layer/types/shell.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

namespace tenon::test {

inline Ref<Layer> newLayer(CommPtr comm, const std::string& type) {
  return makeLayer(std::move(comm), type);
}

// The boundary modes of a window at a channel.
inline std::pair<Boundary, Boundary> modesOf(const Window& window, Index channel) {
  for (const ModeBand& band : window.bands)
    if (channel < band.end)
      return {band.low, band.high};
  return {window.lowMode, window.highMode};
}

inline void setWindows(Layer& layer, const std::vector<Window>& windows) {
  const auto each = [&](Index Window::*field) {
    std::vector<Index> numbers;
    for (const Window& window : windows)
      numbers.push_back(window.*field);
    return numbers;
  };
  // One list of modes for all channels, or one each.
  const std::vector<ModeBand>& bands = windows.front().bands;
  std::vector<std::string> lists;
  for (Index channel = 0; channel < (bands.empty() ? 1 : bands.back().end); ++channel) {
    std::vector<std::string> modes;
    for (const Window& window : windows) {
      const auto [low, high] = modesOf(window, channel);
      modes.push_back(fmt::format("{}/{}", boundaryName(low), boundaryName(high)));
    }
    lists.push_back(joined(modes, ","));
  }
  layer.set("kernel", each(&Window::kernel));
  layer.set("stride", each(&Window::stride));
  layer.set("dilation", each(&Window::dilation));
  layer.set("padding", each(&Window::padLow));
  layer.set("padding_high", each(&Window::padHigh));
  layer.setText("boundary", joined(lists, ";"));
  if (layer.declaration().settings().has("ceil"))
    layer.set("ceil", windows.front().ceil);
}

inline Ref<Layer> newConv(CommPtr comm, Index in, Index out, const std::vector<Window>& windows) {
  const auto layer = newLayer(std::move(comm), "conv");
  layer->set("in_channels", in);
  layer->set("out_channels", out);
  setWindows(*layer, windows);
  return layer;
}

inline Ref<Layer> newPooling(CommPtr comm, PoolingMode mode, const std::vector<Window>& windows) {
  const bool isMaximum = mode == PoolingMode::Max;
  const auto layer = newLayer(std::move(comm), isMaximum ? "maxpooling" : "averagepooling");
  setWindows(*layer, windows);
  if (!isMaximum)
    layer->set("include_padding", mode == PoolingMode::AverageIncludePad);
  return layer;
}

inline Ref<Layer> newAffine(CommPtr comm, Index inputs, Index outputs) {
  const auto layer = newLayer(std::move(comm), "affine");
  layer->set("inputs", inputs);
  layer->set("outputs", outputs);
  return layer;
}

// An assignment in which a layer reads its inputs in these layouts.
inline AssignmentPtr usesOf(const Layer& layer, Layouts uses) {
  NodeChoice choice;
  choice.uses = std::move(uses);
  return std::make_shared<const Assignment>(Assignment{.layers = {{&layer, std::move(choice)}}});
}

inline Ref<Layer> newDropout(CommPtr comm, double rate = 0.5) {
  const auto layer = newLayer(std::move(comm), "dropout");
  layer->set("rate", rate);
  return layer;
}

inline Ref<Layer> newConcatenate(CommPtr comm, int dim) {
  const auto layer = newLayer(std::move(comm), "concatenate");
  layer->set("dim", Index(dim));
  return layer;
}

inline Ref<Layer> newRepartition(CommPtr comm, const Layout& output) {
  const auto layer = newLayer(std::move(comm), "repartition");
  layer->setOutputLayout(output);
  return layer;
}

// A function of each element with its parameter, if it has one.
inline Ref<Layer> newPointwise(CommPtr comm, const std::string& function,
                               const char* parameter = nullptr, double value = 0) {
  const auto layer = newLayer(std::move(comm), function);
  if (parameter)
    layer->set(parameter, value);
  return layer;
}

} // namespace tenon::test
