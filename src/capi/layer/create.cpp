// SPDX-License-Identifier: BSD-2-Clause
// Calls that create layers, and setters that have a call of their own. Both write named settings of
// the layer, as the general setters TenonObjectSetText(), TenonObjectSetIntegers() etc. do.
//   Create...   collective; an invalid argument on one rank is an error on all ranks
//   Set...      local; the failure of a setting is stored, and SetUp returns it on all ranks
// Target, frozen parameters and training mode are not settings. They can change at any time, and
// their failures are not stored.
#include "capi/layer/create.hpp"

#include "declaration/core/types.hpp"
#include "declaration/core/window_layout.hpp"
#include "dtensor/dtensor.hpp"
#include "geometry/layout/boundary.hpp"
#include "sys/text/text.hpp"

#include <tenon/ext/layer.h>
#include <tenon/layer.h>
#include <tenon/layer_network.h>
#include <tenon/layer_types.h>

#include <algorithm>
#include <array>

using namespace tenon;

namespace {

using Values = std::vector<std::pair<const char*, SettingValue>>;

// The body of a Create call whose arguments are settings of the layer: valuesOf() converts the
// arguments to pairs of setting and value.
template <class ValuesOf>
TenonErrorCode createWith(const char* function, MPI_Comm comm, TenonLayer* layer, const char* type,
                          ValuesOf valuesOf) {
  return createLayer(function, comm, layer, [&](const CommPtr& communicator) {
    auto object = makeLayer(communicator, type);
    for (auto& [name, value] : valuesOf())
      object->set(name, std::move(value));
    return object;
  });
}

TenonErrorCode createPlain(const char* function, MPI_Comm comm, TenonLayer* layer,
                           const char* type) {
  return createWith(function, comm, layer, type, [] { return Values(); });
}

void checkSpatial(int spatial) {
  if (spatial < 1 || spatial > kMaxSpatial)
    throw Error(TENON_ERR_ARG,
                fmt::format("the number of spatial dimensions is {}; it must be in 1 to {}",
                            spatial, kMaxSpatial));
}

// The setting "kernel": one extent per spatial dimension.
SettingValue kernelOf(int spatial, const TenonInt* kernel) {
  checkSpatial(spatial);
  return listOf(kernel, spatial, "kernel");
}

// The setting "faces", such as "all,none"; the words are in the order of TenonFaces.
SettingValue facesOf(int spatial, const TenonFaces* faces) {
  constexpr std::array kWords = {"none", "all", "lower", "upper"};
  checkSpatial(spatial);
  const TenonFaces* list = &required(faces, "faces");
  std::vector<std::string> words;
  for (int d = 0; d < spatial; ++d) {
    const auto number = static_cast<std::size_t>(list[d]);
    if (number >= kWords.size())
      throw Error(TENON_ERR_ARG, fmt::format("faces[{}] is {}, which is none of the enumeration "
                                             "TenonFaces",
                                             d, static_cast<int>(list[d])));
    words.emplace_back(kWords[number]);
  }
  return joined(words, ",");
}

// Returns the number of spatial dimensions, which is the length of the arrays that setters get. It
// is the length of the setting "faces" or "kernel", one of which every such layer has.
std::size_t spatialOf(const Layer& layer, const char* setting) {
  layer.isSet(setting); // throws TENON_ERR_TYPE if the type does not have this setting
  if (const auto faces = layer.settings().find<std::string>("faces"))
    return split(*faces, ',').size();
  if (const auto kernel = layer.settings().find<std::vector<Index>>("kernel"))
    return kernel->size();
  throw Error(TENON_ERR_STATE,
              fmt::format("{} has no {}, which tells the number of spatial dimensions; set it "
                          "first, or set '{}' by TenonObjectSetIntegers() or TenonObjectSetText()",
                          layer.title(), layer.settings().has("faces") ? "faces" : "kernel",
                          setting));
}

// A list with one number per spatial dimension, copied from the argument `name`.
SettingValue perDimension(const Layer& layer, const char* setting, const TenonInt* values,
                          const char* name) {
  const TenonInt* first = &required(values, name);
  return std::vector<Index>(first, first + spatialOf(layer, setting));
}

// The setting "boundary", such as "periodic/periodic,zero/none": the modes of the two sides of each
// dimension. If `high` is NULL, both sides have the modes `low`.
std::string boundaryText(const Layer& layer, const TenonBoundary* low, const TenonBoundary* high) {
  const TenonBoundary* lows = &required(low, "low");
  const TenonBoundary* highs = high ? high : lows;
  std::vector<std::string> modes;
  for (std::size_t d = 0; d < spatialOf(layer, "boundary"); ++d) {
    const Boundary below = boundaryOf(lows[d], fmt::format("low[{}]", d)),
                   above = boundaryOf(highs[d], fmt::format("high[{}]", d));
    modes.push_back(fmt::format("{}/{}", boundaryName(below), boundaryName(above)));
  }
  return joined(modes, ",");
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

TenonErrorCode TenonLayerCreateColumnMLP(MPI_Comm comm, int count, const TenonInt widths[],
                                         const char* activation, TenonLayer* layer) noexcept {
  return createWith(__func__, comm, layer, "columnmlp", [&] {
    if (count < 2)
      throw Error(TENON_ERR_ARG,
                  fmt::format("the number of widths is {}; it must be at least 2, those of the "
                              "input and of the output",
                              count));
    Values values{{"widths", listOf(widths, count, "widths")}};
    if (activation)
      values.emplace_back("activation", std::string(activation));
    return values;
  });
}

TenonErrorCode TenonLayerCreateCollocate(MPI_Comm comm, int spatial, const TenonFaces faces[],
                                         TenonLayer* layer) noexcept {
  return createWith(__func__, comm, layer, "collocate", [&] {
    return Values{{"faces", facesOf(spatial, faces)}};
  });
}

TenonErrorCode TenonLayerCreateStagger(MPI_Comm comm, int spatial, const TenonFaces faces[],
                                       TenonLayer* layer) noexcept {
  return createWith(__func__, comm, layer, "stagger", [&] {
    return Values{{"faces", facesOf(spatial, faces)}};
  });
}

TenonErrorCode TenonLayerCreateGraph(MPI_Comm comm, TenonLayer* layer) noexcept {
  return createPlain(__func__, comm, layer, "graph");
}

TenonErrorCode TenonLayerCreateSequential(MPI_Comm comm, TenonLayer* layer) noexcept {
  return createPlain(__func__, comm, layer, "sequential");
}

TenonErrorCode TenonLayerCreateType(MPI_Comm comm, const char* name, TenonLayer* layer) noexcept {
  return createLayer(__func__, comm, layer, [&](const CommPtr& communicator) {
    return makeLayer(communicator, textOf(name, "name"));
  });
}

TenonErrorCode TenonLayerGetSpatialDimensions(TenonLayer layer, int* spatial) noexcept {
  return guard(__func__, [&] {
    const Layer& l = deref(layer, "layer");
    int& result = required(spatial, "spatial");
    result = static_cast<int>(spatialOf(l, l.settings().has("faces") ? "faces" : "kernel"));
  });
}

TenonErrorCode TenonLayerSetStride(TenonLayer layer, const TenonInt stride[]) noexcept {
  return specifyLayer(__func__, layer, [&](Layer& l) {
    l.set("stride", perDimension(l, "stride", stride, "stride"));
  });
}

TenonErrorCode TenonLayerSetPadding(TenonLayer layer, const TenonInt low[],
                                    const TenonInt high[]) noexcept {
  return specifyLayer(__func__, layer, [&](Layer& l) {
    l.set("padding", perDimension(l, "padding", low, "low"));
    l.set("padding_high", perDimension(l, "padding_high", high ? high : low, "high"));
  });
}

TenonErrorCode TenonLayerSetBoundary(TenonLayer layer, const TenonBoundary low[],
                                     const TenonBoundary high[]) noexcept {
  return specifyLayer(__func__, layer,
                      [&](Layer& l) { l.set("boundary", boundaryText(l, low, high)); });
}

TenonErrorCode TenonLayerSetChannelBoundary(TenonLayer layer, TenonInt channel,
                                            const TenonBoundary low[],
                                            const TenonBoundary high[]) noexcept {
  return specifyLayer(__func__, layer, [&](Layer& l) {
    if (channel < 0)
      throw Error(TENON_ERR_ARG, fmt::format("channel is {}; it must be >= 0", channel));
    // Appended to the modes of all channels: a later entry for a channel has priority.
    const std::string modes = boundaryText(l, low, high);
    l.set("boundary",
          fmt::format("{};{}={}", l.declaration().value<std::string>("boundary"), channel, modes));
  });
}

TenonErrorCode TenonLayerSetDataType(TenonLayer layer, TenonDataType type) noexcept {
  return specifyLayer(__func__, layer, [&](Layer& l) { l.setDataType(type); });
}

TenonErrorCode TenonLayerSetSpace(TenonLayer layer, TenonMemorySpace space) noexcept {
  return specifyLayer(__func__, layer, [&](Layer& l) { l.setSpace(spaceOf(space)); });
}

TenonErrorCode TenonLayerSetStackDepth(TenonLayer layer, int depth) noexcept {
  return specifyLayer(__func__, layer, [&](Layer& l) { l.setStackDepth(depth); });
}

TenonErrorCode TenonLayerSetSignature(TenonLayer layer, const char* labels) noexcept {
  return specifyLayer(__func__, layer,
                      [&](Layer& l) { l.set("signature", textOf(labels, "labels")); });
}

TenonErrorCode TenonLayerSetStorage(TenonLayer layer, const char* storage) noexcept {
  return specifyLayer(__func__, layer,
                      [&](Layer& l) { l.set("storage", textOf(storage, "storage")); });
}

TenonErrorCode TenonLayerSetTarget(TenonLayer layer, TenonDTensor target) noexcept {
  return guard(__func__, [&] {
    Layer& l = deref(layer, "layer");
    l.setTarget(Ref<DTensor>::share(&deref(target, "target")));
  });
}

TenonErrorCode TenonLayerSetTargetWeights(TenonLayer layer, TenonDTensor weights) noexcept {
  return guard(__func__, [&] {
    Layer& l = deref(layer, "layer");
    l.setTargetWeights(Ref<DTensor>::share(&deref(weights, "weights")));
  });
}

TenonErrorCode TenonLayerSetFrozen(TenonLayer layer, TenonBool frozen) noexcept {
  return guard(__func__, [&] { deref(layer, "layer").setFrozen(frozen != TENON_FALSE); });
}

TenonErrorCode TenonLayerSetTraining(TenonLayer layer, TenonBool training) noexcept {
  return guard(__func__, [&] { deref(layer, "layer").setTraining(training != TENON_FALSE); });
}

TenonErrorCode TenonLayerSetRecording(TenonLayer layer, TenonBool recording) noexcept {
  return guard(__func__, [&] { deref(layer, "layer").setRecording(recording != TENON_FALSE); });
}
