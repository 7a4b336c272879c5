// SPDX-License-Identifier: BSD-2-Clause
// The setters of a layer that have a call of their own. They write the setting of that name, as
// TenonObjectSet...() does, local and before the set-up; a failure is remembered, and the set-up
// fails with it on all ranks. A target, frozen parameters and the mode of training are no settings:
// they may change at any time, so their failures are not kept.
#include "capi/layer/create.hpp"
#include "dtensor/dtensor.hpp"
#include "geometry/boundary.hpp"
#include "sys/text/text.hpp"

#include <tenon/layer.h>
#include <tenon/layer_types.h>

using namespace tenon;

namespace {

// The number of spatial dimensions, which is the length of the lists that these setters take: the
// kernel tells it, for every type that has one.
std::size_t spatialOf(const Layer& layer, const char* setting) {
  layer.isSet(setting); // which says that the type has it
  const auto kernel = layer.settings().find<std::vector<Index>>("kernel");
  if (!kernel)
    throw Error(TENON_ERR_STATE,
                fmt::format("{} has no kernel, which tells the number of spatial dimensions; set "
                            "it first, or set '{}' by TenonObjectSetIntegers() or "
                            "TenonObjectSetText()",
                            layer.title(), setting));
  return kernel->size();
}

SettingValue perDimension(const Layer& layer, const char* setting, const TenonInt* values,
                          const char* name) {
  const TenonInt* first = &required(values, name);
  return std::vector<Index>(first, first + spatialOf(layer, setting));
}

} // namespace

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
  return specifyLayer(__func__, layer, [&](Layer& l) {
    const TenonBoundary* lows = &required(low, "low");
    const TenonBoundary* highs = high ? high : lows;
    std::vector<std::string> modes;
    for (std::size_t d = 0; d < spatialOf(l, "boundary"); ++d) {
      const Boundary below = boundaryOf(lows[d], fmt::format("low[{}]", d)),
                     above = boundaryOf(highs[d], fmt::format("high[{}]", d));
      modes.push_back(fmt::format("{}/{}", boundaryName(below), boundaryName(above)));
    }
    l.set("boundary", joined(modes, ","));
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
