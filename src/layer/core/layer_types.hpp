// SPDX-License-Identifier: BSD-2-Clause
// How a layer comes to its type: the library's types (declaration/core/types.inc), each with what
// makes its kernels, and those that a user registers.
#pragma once

#include "kernels/base/backend.hpp"
#include "layer/core/layer.hpp"
#include "layer/core/local_kernel.hpp"
#include "sys/errors/error.hpp"
#include "sys/errors/registry.hpp"

namespace tenon {

// A type says its kernels, each by a call; everything distributed follows from its maps.

#define TENON_LAYER_TYPE(name, Name)                                                               \
  std::unique_ptr<LocalKernel> make##Name##Kernel(const KernelSite& at);
#define TENON_TYPE_WITHOUT_KERNELS(name, Name)
#include "declaration/core/types.inc"
#undef TENON_TYPE_WITHOUT_KERNELS
#undef TENON_LAYER_TYPE
std::unique_ptr<LocalKernel> makePointwiseKernel(const KernelSite& at);

// A layer that is no container, set up for its inputs: in pieces where the user says so, or where
// that is predicted to save time.
std::unique_ptr<Setup> setUpMaps(Layer& layer, const Layouts& inputs,
                                 const std::optional<Layout>& computedHalo, KernelMaker make);

// Makes a layer of a type.
using LayerMaker = std::function<Ref<Layer>(CommPtr comm)>;
TypeRegistry<LayerMaker>& layerTypes();

// A layer of a type, ready to be set.
Ref<Layer> makeLayer(CommPtr comm, const std::string& type);

// As the setting says, and as it is resolved for the layer's data type.
Backend backendOf(const Layer& layer);
Backend resolvedBackend(const Layer& layer);

} // namespace tenon
