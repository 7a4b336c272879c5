// SPDX-License-Identifier: BSD-2-Clause
#include "layer/layer_types.hpp"

#include "declaration/declaration_types.hpp"
#include "layer/shell.hpp"

namespace tenon {

namespace {

template <KernelMaker make>
std::unique_ptr<Setup> setUpWith(Layer& layer, const Layouts& inputs) {
  return setUpKernel(layer, inputs, make);
}

struct KnownType {
  const char* name;
  std::unique_ptr<Setup> (*setUp)(Layer& layer, const Layouts& inputs);
};
#define TENON_SET_UP_KERNEL(Name) setUpWith<make##Name##Kernel>
#define TENON_SET_UP_COMPOSED(Name) setUp##Name
#define TENON_LAYER_TYPE(name, Name, kind) {#name, TENON_SET_UP_##kind(Name)},
constexpr KnownType kKnownTypes[] = {
#include "declaration/types.inc"
};
#undef TENON_LAYER_TYPE
#undef TENON_SET_UP_COMPOSED
#undef TENON_SET_UP_KERNEL

void addOwnTypes(TypeRegistry<LayerTyper>& types) {
  const auto add = [&](const std::string& name, const SetUpFunction& setUp) {
    types.add(name, [=](Layer& layer) { layer.declare(makeDeclaration(name), setUp); });
  };
  for (const KnownType& known : kKnownTypes)
    add(known.name, known.setUp);
  for (const std::string& name : pointwiseNames())
    add(name, setUpWith<makePointwiseKernel>);
  types.add("shell", [](Layer& layer) { declareShell(layer, "shell"); });
}

} // namespace

TypeRegistry<LayerTyper>& layerTypes() {
  static TypeRegistry<LayerTyper>* types = [] {
    auto* made = new TypeRegistry<LayerTyper>("layer type");
    addOwnTypes(*made);
    return made;
  }();
  return *types;
}

void Layer::setType(const std::string& type) {
  layerTypes().find(type)(*this);
}

Ref<Layer> makeLayer(CommPtr comm, const std::string& type) {
  auto layer = makeRef<Layer>(std::move(comm));
  layer->setType(type);
  return layer;
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
