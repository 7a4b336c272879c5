// SPDX-License-Identifier: BSD-2-Clause
// Layers that are made by the name of their type alone: the library's own that need no numbers, and
// those that a user registers.
#pragma once

#include "layer/layer.hpp"
#include "sys/registry.hpp"

#include <functional>

namespace tenon {

using LayerFactory = std::function<Ref<Layer>(CommPtr)>;

TypeRegistry<LayerFactory>& layerTypes();

} // namespace tenon
