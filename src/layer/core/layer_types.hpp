// SPDX-License-Identifier: BSD-2-Clause
// How a layer comes to its type: the library's types (declaration/core/types.inc), each with what sets it
// up, and those that a user registers.
#pragma once

#include "kernels/base/backend.hpp"
#include "layer/core/layer.hpp"
#include "layer/core/local_kernel.hpp"
#include "sys/errors/error.hpp"
#include "sys/errors/registry.hpp"

namespace tenon {

// Kernels refuse without knowing for whom: here the layer's name is added.

template <class Make>
std::unique_ptr<LocalKernel> madeFor(const Layer& layer, Make&& make) {
  try {
    return make();
  } catch (const Error& error) {
    throw Error(error.code(), layer.title() + ": " + error.text(), error.where());
  }
}

// Layers whose list of maps is of their own, of one input.

// With the kernels of the list; the view says the signature and what happens to the input.
std::unique_ptr<Setup> setUpComposed(Layer& layer, const Form& form, const MakeKernel& make);

// Layers that are one local kernel between conversions (declaration/core/kernel_maps.cpp): a layer type
// says its kernel.

// Makes the kernel that computes some of this rank's outputs, in global indices, from what it holds of
// the input in `use`.
using KernelMaker = std::unique_ptr<LocalKernel> (*)(Layer& layer, const Form& form,
                                                     const Layout& use, const Box& outputs);
// In pieces where the user says so, or where that is predicted to save time.
std::unique_ptr<Setup> setUpKernel(Layer& layer, const Layouts& inputs, KernelMaker make);

#define TENON_DECLARE_KERNEL(Name)                                                                 \
  std::unique_ptr<LocalKernel> make##Name##Kernel(Layer& layer, const Form& form,                  \
                                                  const Layout& use, const Box& outputs);
#define TENON_DECLARE_COMPOSED(Name)                                                               \
  std::unique_ptr<Setup> setUp##Name(Layer& layer, const Layouts& inputs);
#define TENON_LAYER_TYPE(name, Name, kind) TENON_DECLARE_##kind(Name)
#include "declaration/core/types.inc"
TENON_DECLARE_KERNEL(Pointwise)
#undef TENON_LAYER_TYPE
#undef TENON_DECLARE_COMPOSED
#undef TENON_DECLARE_KERNEL

// Makes a layer of a type.
using LayerMaker = std::function<Ref<Layer>(CommPtr comm)>;
TypeRegistry<LayerMaker>& layerTypes();

// A layer of a type, ready to be set.
Ref<Layer> makeLayer(CommPtr comm, const std::string& type);

// As the setting says, and as it is resolved for the layer's data type.
Backend backendOf(const Layer& layer);
Backend resolvedBackend(const Layer& layer);

} // namespace tenon
