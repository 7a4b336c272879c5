// SPDX-License-Identifier: BSD-2-Clause
// The creation of layers. The arguments of a call for one type are nothing but settings of that type: the layer is made
// by the type's name and then set as TenonObjectSetIntegers() and its kin would, inside the collective body, so that a
// value out of bounds on one rank is an error on all.
#include "capi/layer/create.hpp"

#include "comm/layout_object.hpp"
#include "declaration/core/types.hpp"
#include "declaration/core/window_layout.hpp"
#include "sys/text/text.hpp"

#include <tenon/ext/layer.h>
#include <tenon/layer_create.h>
#include <tenon/layer_network.h>
#include <tenon/layer_settings.h>

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

void checkMode(TenonPoolingMode mode) {
  if (mode < TENON_POOLING_MAX || mode > TENON_POOLING_AVERAGE_EXCLUDE_PAD)
    throw Error(TENON_ERR_ARG, fmt::format("mode is {}; use a TENON_POOLING_... constant",
                                           static_cast<int>(mode)));
}

std::string functionOf(const char* function) {
  std::string name = textOf(function, "function");
  const std::vector<std::string> known = pointwiseNames();
  if (std::find(known.begin(), known.end(), name) == known.end())
    throw Error(TENON_ERR_TYPE,
                fmt::format("unknown pointwise function '{}'; the nearest is '{}', the functions "
                            "are {}",
                            name, nearest(name, known), joined(known)));
  return name;
}

} // namespace

TenonErrorCode TenonLayerCreate(MPI_Comm comm, TenonLayer* layer) noexcept {
  return createLayer(__func__, comm, layer, [](const CommPtr& own) { return makeRef<Layer>(own); });
}

TenonErrorCode TenonLayerCreateConv(MPI_Comm comm, int spatial, TenonInt inChannels,
                                    TenonInt outChannels, const TenonInt kernel[],
                                    TenonLayer* layer) noexcept {
  return createWith(__func__, comm, layer, "conv", [&] {
    return Values{{"in_channels", inChannels},
                  {"out_channels", outChannels},
                  {"kernel", kernelOf(spatial, kernel)}};
  });
}

TenonErrorCode TenonLayerCreatePooling(MPI_Comm comm, TenonPoolingMode mode, int spatial,
                                       const TenonInt kernel[], TenonLayer* layer) noexcept {
  const bool isMaximum = mode == TENON_POOLING_MAX;
  return createWith(__func__, comm, layer, isMaximum ? "maxpooling" : "averagepooling", [&] {
    checkMode(mode);
    Values values{{"kernel", kernelOf(spatial, kernel)}};
    if (!isMaximum)
      values.emplace_back("include_padding", mode == TENON_POOLING_AVERAGE_INCLUDE_PAD);
    return values;
  });
}

TenonErrorCode TenonLayerCreateAffine(MPI_Comm comm, TenonInt inputs, TenonInt outputs,
                                      TenonLayer* layer) noexcept {
  return createWith(__func__, comm, layer, "affine", [&] {
    return Values{{"inputs", inputs}, {"outputs", outputs}};
  });
}

TenonErrorCode TenonLayerCreatePointwise(MPI_Comm comm, const char* function,
                                         TenonLayer* layer) noexcept {
  return createLayer(__func__, comm, layer,
                     [&](const CommPtr& own) { return makeLayer(own, functionOf(function)); });
}

TenonErrorCode TenonLayerCreateFlatten(MPI_Comm comm, TenonLayer* layer) noexcept {
  return createPlain(__func__, comm, layer, "flatten");
}

TenonErrorCode TenonLayerCreateCrossEntropy(MPI_Comm comm, TenonLayer* layer) noexcept {
  return createPlain(__func__, comm, layer, "crossentropy");
}

TenonErrorCode TenonLayerCreateDropout(MPI_Comm comm, double rate, TenonLayer* layer) noexcept {
  return createWith(__func__, comm, layer, "dropout", [&] { return Values{{"rate", rate}}; });
}

TenonErrorCode TenonLayerCreateMeanSquaredError(MPI_Comm comm, TenonLayer* layer) noexcept {
  return createPlain(__func__, comm, layer, "meansquarederror");
}

TenonErrorCode TenonLayerCreateAdd(MPI_Comm comm, TenonLayer* layer) noexcept {
  return createPlain(__func__, comm, layer, "add");
}

TenonErrorCode TenonLayerCreateConcatenate(MPI_Comm comm, int dim, TenonLayer* layer) noexcept {
  return createWith(__func__, comm, layer, "concatenate", [&] {
    return Values{{"dim", Index(dim)}};
  });
}

TenonErrorCode TenonLayerCreateGraph(MPI_Comm comm, TenonLayer* layer) noexcept {
  return createPlain(__func__, comm, layer, "graph");
}

TenonErrorCode TenonLayerCreateSequential(MPI_Comm comm, TenonLayer* layer) noexcept {
  return createPlain(__func__, comm, layer, "sequential");
}

TenonErrorCode TenonLayerCreateShell(MPI_Comm comm, TenonLayer* layer) noexcept {
  return createPlain(__func__, comm, layer, "shell");
}

TenonErrorCode TenonLayerCreateType(MPI_Comm comm, const char* name, TenonLayer* layer) noexcept {
  return createLayer(__func__, comm, layer,
                     [&](const CommPtr& own) { return makeLayer(own, textOf(name, "name")); });
}

TenonErrorCode TenonLayerCreateRepartition(MPI_Comm comm, TenonLayout output,
                                           TenonLayer* layer) noexcept {
  return createLayer(__func__, comm, layer, [&](const CommPtr& own) {
    const LayoutObject& given = deref(output, "output");
    if (given.comm() != own)
      throw Error(TENON_ERR_ARG, "output and comm are different communicators; create output on "
                                 "comm, which must hold the ranks of input and output");
    auto made = makeLayer(own, "repartition");
    made->setOutputLayout(given.layout());
    return made;
  });
}
