// SPDX-License-Identifier: BSD-2-Clause
// Layers one after the other: the network in which each node reads the one before.
#pragma once

#include "layer/network_layer.hpp"

namespace tenon {

class SequentialLayer final : public NetworkLayer {
public:
  explicit SequentialLayer(CommPtr comm) : NetworkLayer(std::move(comm), 1) {}
  const char* type() const noexcept override { return "sequential"; }

  // Before SetUp. At SetUp the layer gets the container's data type and stack depth, and those of
  // its storage, backend and initializer that the layer has left at their defaults.
  void add(Ref<Layer> layer) { append(std::move(layer), {lastValue()}); }
};

} // namespace tenon
