// SPDX-License-Identifier: BSD-2-Clause
// Layer types by name: the library's types (declaration/core/types.inc), and types that a user
// registers. TenonLayerCreateType() and networks from files create layers by makeLayer().
#pragma once

#include "kernels/base/backend.hpp"
#include "layer/core/layer.hpp"
#include "layer/core/local_kernel.hpp"
#include "sys/errors/error.hpp"
#include "sys/errors/registry.hpp"

namespace tenon {

// Declares the functions make<Name>Kernel(). A TENON_TYPE_ON_TENSORS of types.inc has kernels that
// need more than arrays, such as targets, states or operators. Its function, in layer/types, is
// called once for each kernel of the layer's map list and makes this kernel. The kernels of a
// TENON_LAYER_TYPE are made by its declaration, so its lines expand to nothing here.
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

// The setting backend, which can be "auto", and the backend that this means for kernels of the
// layer's data type and space (kernels/base/backend.hpp).
Backend backendOf(const Layer& layer);
Backend resolvedBackend(const Layer& layer);

} // namespace tenon
