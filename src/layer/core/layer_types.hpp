// SPDX-License-Identifier: BSD-2-Clause
// Layer types by name: the library's types (declaration/core/types.inc), and types that a user
// registers.
#pragma once

#include "kernels/base/backend.hpp"
#include "layer/core/layer.hpp"
#include "layer/core/local_kernel.hpp"
#include "sys/errors/error.hpp"
#include "sys/errors/registry.hpp"

namespace tenon {

// Declares, for each type on tensors, the function make<Name>Kernel(), which creates the kernels of
// its map list. It is called once per kernel.
#define TENON_LAYER_TYPE(name, Name)
#define TENON_TYPE_ON_TENSORS(name, Name)                                                          \
  std::unique_ptr<LocalKernel> make##Name##Kernel(const KernelSite& at);
#include "declaration/core/types.inc"
#undef TENON_TYPE_ON_TENSORS
#undef TENON_LAYER_TYPE

// A function that creates a layer of a type.
using LayerMaker = std::function<Ref<Layer>(CommPtr comm)>;
TypeRegistry<LayerMaker>& layerTypes();

// Creates a layer of a type, with default settings.
Ref<Layer> makeLayer(CommPtr comm, const std::string& type);

// The backend as set, and as resolved for the layer's data type and space.
Backend backendOf(const Layer& layer);
Backend resolvedBackend(const Layer& layer);

} // namespace tenon
