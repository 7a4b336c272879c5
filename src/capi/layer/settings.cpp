// SPDX-License-Identifier: BSD-2-Clause
// The setters of a layer. Most write a setting by its name, local and before the set-up; a failure is remembered, and the
// set-up fails with it on all ranks. A target, frozen parameters and the mode of training are no settings: they may change
// at any time, so their failures are not kept.
#include "capi/layer/create.hpp"
#include "declaration/core/windowed.hpp"
#include "dtensor/dtensor.hpp"
#include "geometry/boundary.hpp"
#include "sys/text/text.hpp"

#include <tenon/layer.h>
#include <tenon/loss.h>

using namespace tenon;

namespace {

// The number of spatial dimensions of a convolution or pooling, which is the length of the lists that its setters take.
std::size_t spatialOf(const Layer& layer, const char* name) {
  if (const auto* windowed = dynamic_cast<const Windowed*>(&layer.declaration()))
    return windowed->value<std::vector<Index>>("kernel").size();
  throw Error(TENON_ERR_TYPE, fmt::format("{} has type {}, which has no setting '{}'; convolution "
                                          "and pooling have",
                                          layer.title(), layer.type(), name));
}

SettingValue perDimension(const Layer& layer, const TenonInt* values, const char* name) {
  const TenonInt* first = &required(values, name);
  return std::vector<Index>(first, first + spatialOf(layer, name));
}

TenonErrorCode setOne(const char* function, TenonLayer layer, const char* name,
                      SettingValue value) {
  return specifyLayer(function, layer, [&](Layer& l) { l.set(name, std::move(value)); });
}

std::string overlapOf(TenonOverlap overlap) {
  static constexpr const char* kNames[] = {"auto", "on", "off"};
  if (overlap < TENON_OVERLAP_AUTO || overlap > TENON_OVERLAP_OFF)
    throw Error(TENON_ERR_ARG, fmt::format("overlap is {}; use a TENON_OVERLAP_... constant",
                                           static_cast<int>(overlap)));
  return kNames[overlap];
}

} // namespace

TenonErrorCode TenonLayerSetStride(TenonLayer layer, const TenonInt stride[]) noexcept {
  return specifyLayer(__func__, layer,
                      [&](Layer& l) { l.set("stride", perDimension(l, stride, "stride")); });
}

TenonErrorCode TenonLayerSetDilation(TenonLayer layer, const TenonInt dilation[]) noexcept {
  return specifyLayer(__func__, layer,
                      [&](Layer& l) { l.set("dilation", perDimension(l, dilation, "dilation")); });
}

TenonErrorCode TenonLayerSetPadding(TenonLayer layer, const TenonInt low[],
                                    const TenonInt high[]) noexcept {
  return specifyLayer(__func__, layer, [&](Layer& l) {
    l.set("padding", perDimension(l, low, "low"));
    l.set("padding_high", perDimension(l, high ? high : low, "high"));
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

TenonErrorCode TenonLayerSetBoundaryConstant(TenonLayer layer, double value) noexcept {
  return setOne(__func__, layer, "boundary_constant", value);
}

TenonErrorCode TenonLayerSetGroups(TenonLayer layer, TenonInt groups) noexcept {
  return setOne(__func__, layer, "groups", groups);
}

TenonErrorCode TenonLayerSetOverlap(TenonLayer layer, TenonOverlap overlap) noexcept {
  return specifyLayer(__func__, layer, [&](Layer& l) { l.set("overlap", overlapOf(overlap)); });
}

TenonErrorCode TenonLayerSetCeilMode(TenonLayer layer, TenonBool ceil) noexcept {
  return setOne(__func__, layer, "ceil", ceil != TENON_FALSE);
}

TenonErrorCode TenonLayerSetBias(TenonLayer layer, TenonBool bias) noexcept {
  return setOne(__func__, layer, "bias", bias != TENON_FALSE);
}

TenonErrorCode TenonLayerSetRate(TenonLayer layer, double rate) noexcept {
  return setOne(__func__, layer, "rate", rate);
}

TenonErrorCode TenonLayerSetSlope(TenonLayer layer, double slope) noexcept {
  return setOne(__func__, layer, "slope", slope);
}

TenonErrorCode TenonLayerSetFactor(TenonLayer layer, double factor) noexcept {
  return setOne(__func__, layer, "factor", factor);
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

TenonErrorCode TenonLayerSetBackend(TenonLayer layer, const char* backend) noexcept {
  return specifyLayer(__func__, layer,
                      [&](Layer& l) { l.set("backend", textOf(backend, "backend")); });
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
