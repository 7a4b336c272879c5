// SPDX-License-Identifier: BSD-2-Clause
// Registers the layer types by name. types.inc is included here and in the
// declarations, so each type has both a declaration and a function make<Name>Kernel, which creates
// the kernels of the type's map list one by one. Most types have a single kernel.
#include "layer/core/layer_types.hpp"

#include "declaration/core/types.hpp"
#include "layer/core/layer.hpp"
#include "layer/networks/model.hpp"
#include "layer/types/shell.hpp"
#include "sys/errors/error.hpp"

namespace tenon {

namespace {

// The types of the library by name.
struct KnownType {
  const char* name;
  KernelMaker make; // null for types without kernels
};
#define TENON_LAYER_TYPE(name, Name) {#name, make##Name##Kernel},
#define TENON_TYPE_WITHOUT_KERNELS(name, Name) {#name, nullptr},
constexpr KnownType kKnownTypes[] = {
#include "declaration/core/types.inc"
};
#undef TENON_TYPE_WITHOUT_KERNELS
#undef TENON_LAYER_TYPE

void addOwnTypes(TypeRegistry<LayerMaker>& types) {
  const auto add = [&](const std::string& name, KernelMaker make) {
    types.add(name, [=](CommPtr comm) {
      return makeRef<Layer>(std::move(comm), makeDeclaration(name), make);
    });
  };
  for (const KnownType& known : kKnownTypes)
    add(known.name, known.make);
  for (const std::string& name : pointwiseNames())
    add(name, makePointwiseKernel);
  types.add("model", makeModel);
  types.add("shell", [](CommPtr comm) { return makeShell(std::move(comm), "shell"); });
}

} // namespace

// All types, also those that a program registers. The registry is never destroyed, because layers
// can exist until the program ends.
TypeRegistry<LayerMaker>& layerTypes() {
  static TypeRegistry<LayerMaker>* types = [] {
    auto* registry = new TypeRegistry<LayerMaker>("layer type");
    addOwnTypes(*registry);
    return registry;
  }();
  return *types;
}

Ref<Layer> makeLayer(CommPtr comm, const std::string& type) {
  return layerTypes().find(type)(std::move(comm));
}

Backend backendOf(const Layer& layer) {
  return parseBackend(layer.declaration().value<std::string>("backend"));
}

Backend resolvedBackend(const Layer& layer) {
  return visitFloating(layer.dataType(), [&]<class T>(T) {
    return resolveBackend<T>(backendOf(layer), layer.space());
  });
}

} // namespace tenon
