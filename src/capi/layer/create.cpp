// SPDX-License-Identifier: BSD-2-Clause
// The creation of layers. The arguments of a call for one type are nothing but settings of that
// type: the layer is made by the type's name and then set as TenonObjectSetIntegers() and its kin
// would, inside the collective body, so that a value out of bounds on one rank is an error on all.
#include "capi/layer/create.hpp"

#include "declaration/core/types.hpp"
#include "declaration/core/window_layout.hpp"
#include "sys/text/text.hpp"

#include <tenon/ext/layer.h>
#include <tenon/layer_network.h>
#include <tenon/layer_types.h>

#include <algorithm>

using namespace tenon;

namespace {

using Values = std::vector<std::pair<const char*, SettingValue>>;

// Creates a layer of a type whose settings are arguments of the call: valuesOf() gives them.
template <class ValuesOf>
TenonErrorCode createWith(const char* function, MPI_Comm comm, TenonLayer* layer, const char* type,
                          ValuesOf valuesOf) {
  return createLayer(function, comm, layer, [&](const CommPtr& own) {
    auto made = makeLayer(own, type);
    for (auto& [name, value] : valuesOf())
      made->set(name, std::move(value));
    return made;
  });
}

TenonErrorCode createPlain(const char* function, MPI_Comm comm, TenonLayer* layer,
                           const char* type) {
  return createWith(function, comm, layer, type, [] { return Values(); });
}

SettingValue kernelOf(int spatial, const TenonInt* kernel) {
  if (spatial < 1 || spatial > kMostSpatial)
    throw Error(TENON_ERR_ARG,
                fmt::format("the number of spatial dimensions is {}; it must be in 1 to {}",
                            spatial, kMostSpatial));
  return listOf(kernel, spatial, "kernel");
}

} // namespace

TenonErrorCode TenonLayerCreateConv(MPI_Comm comm, int spatial, TenonInt inChannels,
                                    TenonInt outChannels, const TenonInt kernel[],
                                    TenonLayer* layer) noexcept {
  return createWith(__func__, comm, layer, "conv", [&] {
    return Values{{"in_channels", inChannels},
                  {"out_channels", outChannels},
                  {"kernel", kernelOf(spatial, kernel)}};
  });
}

TenonErrorCode TenonLayerCreateAffine(MPI_Comm comm, TenonInt inputs, TenonInt outputs,
                                      TenonLayer* layer) noexcept {
  return createWith(__func__, comm, layer, "affine", [&] {
    return Values{{"inputs", inputs}, {"outputs", outputs}};
  });
}

TenonErrorCode TenonLayerCreateGraph(MPI_Comm comm, TenonLayer* layer) noexcept {
  return createPlain(__func__, comm, layer, "graph");
}

TenonErrorCode TenonLayerCreateSequential(MPI_Comm comm, TenonLayer* layer) noexcept {
  return createPlain(__func__, comm, layer, "sequential");
}

TenonErrorCode TenonLayerCreateType(MPI_Comm comm, const char* name, TenonLayer* layer) noexcept {
  return createLayer(__func__, comm, layer,
                     [&](const CommPtr& own) { return makeLayer(own, textOf(name, "name")); });
}
