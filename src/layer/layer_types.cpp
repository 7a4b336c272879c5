// SPDX-License-Identifier: BSD-2-Clause
#include "layer/layer_types.hpp"

#include "layer/cross_entropy_layer.hpp"
#include "layer/dropout_layer.hpp"
#include "layer/flatten_layer.hpp"
#include "layer/graph_layer.hpp"
#include "layer/join_layer.hpp"
#include "layer/mean_squared_error_layer.hpp"
#include "layer/pointwise_layer.hpp"
#include "layer/sequential_layer.hpp"
#include "layer/shell_layer.hpp"

namespace tenon {

namespace {

template <class L>
LayerFactory factory() {
  return [](CommPtr comm) -> Ref<Layer> { return makeRef<L>(std::move(comm)); };
}

void addOwnTypes(TypeRegistry<LayerFactory>& types) {
  types.add("add", factory<AddLayer>());
  types.add("crossentropy", factory<CrossEntropyLayer>());
  types.add("dropout", factory<DropoutLayer>());
  types.add("flatten", factory<FlattenLayer>());
  types.add("graph", factory<GraphLayer>());
  types.add("meansquarederror", factory<MeanSquaredErrorLayer>());
  types.add("sequential", factory<SequentialLayer>());
  types.add("shell", factory<ShellLayer>());
  for (const std::string& name : pointwiseNames())
    types.add(name, [name](CommPtr comm) -> Ref<Layer> {
      return makeRef<PointwiseLayer>(std::move(comm), parsePointwise(name));
    });
}

} // namespace

TypeRegistry<LayerFactory>& layerTypes() {
  static TypeRegistry<LayerFactory>* types = [] {
    auto* made = new TypeRegistry<LayerFactory>("layer type");
    addOwnTypes(*made);
    return made;
  }();
  return *types;
}

} // namespace tenon
