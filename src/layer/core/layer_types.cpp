// SPDX-License-Identifier: BSD-2-Clause
// Registers the layer types by name. The declaration of a type makes its kernels; only the types on
// tensors (types.inc) have a function make<Name>Kernel here, which creates the kernels of the
// type's map list one by one.
#include "layer/core/layer_types.hpp"

#include "declaration/core/types.hpp"
#include "layer/core/layer.hpp"
#include "layer/networks/model.hpp"
#include "layer/types/shell.hpp"
#include "sys/errors/error.hpp"

#include <algorithm>

namespace tenon {

namespace {

struct MakerOfType {
  std::string_view name;
  KernelMaker make;
};
#define TENON_LAYER_TYPE(name, Name)
#define TENON_TYPE_ON_TENSORS(name, Name) {#name, make##Name##Kernel},
constexpr MakerOfType kTypesOnTensors[] = {
#include "declaration/core/types.inc"
};
#undef TENON_TYPE_ON_TENSORS
#undef TENON_LAYER_TYPE

void addOwnTypes(TypeRegistry<LayerMaker>& types) {
  for (const std::string& name : declarationNames()) {
    const auto onTensors = std::ranges::find(kTypesOnTensors, name, &MakerOfType::name);
    const KernelMaker make = onTensors == std::end(kTypesOnTensors) ? nullptr : onTensors->make;
    types.add(name, [=](CommPtr comm) {
      return makeRef<Layer>(std::move(comm), makeDeclaration(name), make);
    });
  }
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
