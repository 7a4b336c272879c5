// SPDX-License-Identifier: BSD-2-Clause
// How a layer comes to its type: the library's types (declaration/types.inc), each with what sets it
// up, and those that a user registers.
#pragma once

#include "kernels/backend.hpp"
#include "layer/kernel_setup.hpp"
#include "sys/registry.hpp"

namespace tenon {

#define TENON_DECLARE_KERNEL(Name)                                                                 \
  std::unique_ptr<LocalKernel> make##Name##Kernel(Layer& layer, const Form& form,                  \
                                                  const Layout& use, const Box& outputs);
#define TENON_DECLARE_COMPOSED(Name)                                                               \
  std::unique_ptr<Setup> setUp##Name(Layer& layer, const Layouts& inputs);
#define TENON_LAYER_TYPE(name, Name, kind) TENON_DECLARE_##kind(Name)
#include "declaration/types.inc"
TENON_DECLARE_KERNEL(Pointwise)
#undef TENON_LAYER_TYPE
#undef TENON_DECLARE_COMPOSED
#undef TENON_DECLARE_KERNEL

// Gives a layer its type.
using LayerTyper = std::function<void(Layer& layer)>;
TypeRegistry<LayerTyper>& layerTypes();

// A layer of a type, ready to be set.
Ref<Layer> makeLayer(CommPtr comm, const std::string& type);

// As the setting says, and as it is resolved for the layer's data type.
Backend backendOf(const Layer& layer);
Backend resolvedBackend(const Layer& layer);

} // namespace tenon
