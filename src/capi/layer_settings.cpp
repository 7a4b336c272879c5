// SPDX-License-Identifier: BSD-2-Clause
// Setters of layers. A failed one is remembered, and SetUp fails for it on all ranks.
#include "capi/layer_create.hpp"
#include "layer/affine_layer.hpp"
#include "layer/convolution_layer.hpp"
#include "layer/dropout_layer.hpp"
#include "layer/loss_layer.hpp"
#include "layer/pointwise_layer.hpp"
#include "layer/pooling_layer.hpp"

#include <tenon/layer.h>

using namespace tenon;

namespace {

// Changes the windows of a convolution or pooling layer: change(window, spatial dimension).
template <class Change>
void changeWindows(Layer& layer, Change change) {
  auto& windowed = layerOf<WindowedLayer>(layer, "convolution and pooling");
  std::vector<Window> windows = windowed.windows();
  for (std::size_t d = 0; d < windows.size(); ++d)
    change(windows[d], static_cast<int>(d));
  windowed.setWindows(std::move(windows));
}

void setPointwise(Layer& layer, const char* name, double value) {
  layerOf<PointwiseLayer>(layer, "functions of each element").setParameter(name, value);
}

TenonInt atLeast(TenonInt least, TenonInt value, const char* name, int d) {
  if (value < least)
    throw Error(TENON_ERR_ARG,
                fmt::format("{}[{}] is {}; it must be >= {}", name, d, value, least));
  return value;
}

Overlap overlapOf(TenonOverlap overlap) {
  static_assert(static_cast<int>(Overlap::Auto) == TENON_OVERLAP_AUTO &&
                static_cast<int>(Overlap::On) == TENON_OVERLAP_ON &&
                static_cast<int>(Overlap::Off) == TENON_OVERLAP_OFF);
  if (overlap < TENON_OVERLAP_AUTO || overlap > TENON_OVERLAP_OFF)
    throw Error(TENON_ERR_ARG, fmt::format("overlap is {}; use a TENON_OVERLAP_... constant",
                                           static_cast<int>(overlap)));
  return static_cast<Overlap>(overlap);
}

} // namespace

TenonErrorCode TenonLayerSetStride(TenonLayer layer, const TenonInt stride[]) noexcept {
  return specifyLayer(__func__, layer, [&](Layer& l) {
    const TenonInt& first = required(stride, "stride");
    changeWindows(
        l, [&](Window& window, int d) { window.stride = atLeast(1, (&first)[d], "stride", d); });
  });
}

TenonErrorCode TenonLayerSetDilation(TenonLayer layer, const TenonInt dilation[]) noexcept {
  return specifyLayer(__func__, layer, [&](Layer& l) {
    const TenonInt& first = required(dilation, "dilation");
    changeWindows(l, [&](Window& window, int d) {
      window.dilation = atLeast(1, (&first)[d], "dilation", d);
    });
  });
}

TenonErrorCode TenonLayerSetPadding(TenonLayer layer, const TenonInt low[],
                                    const TenonInt high[]) noexcept {
  return specifyLayer(__func__, layer, [&](Layer& l) {
    const TenonInt* lows = &required(low, "low");
    const TenonInt* highs = high ? high : lows;
    changeWindows(l, [&](Window& window, int d) {
      window.padLow = lows[d];
      window.padHigh = highs[d];
    });
  });
}

TenonErrorCode TenonLayerSetBoundary(TenonLayer layer, const TenonBoundary low[],
                                     const TenonBoundary high[]) noexcept {
  return specifyLayer(__func__, layer, [&](Layer& l) {
    const TenonBoundary* lows = &required(low, "low");
    const TenonBoundary* highs = high ? high : lows;
    changeWindows(l, [&](Window& window, int d) {
      window.lowMode = boundaryOf(lows[d], fmt::format("low[{}]", d));
      window.highMode = boundaryOf(highs[d], fmt::format("high[{}]", d));
    });
  });
}

TenonErrorCode TenonLayerSetBoundaryConstant(TenonLayer layer, double value) noexcept {
  return specifyLayer(__func__, layer, [&](Layer& l) {
    layerOf<WindowedLayer>(l, "convolution and pooling").setBoundaryConstant(value);
  });
}

TenonErrorCode TenonLayerSetGroups(TenonLayer layer, TenonInt groups) noexcept {
  return specifyLayer(__func__, layer, [&](Layer& l) {
    layerOf<ConvolutionLayer>(l, "convolution").setGroups(groups);
  });
}

TenonErrorCode TenonLayerSetOverlap(TenonLayer layer, TenonOverlap overlap) noexcept {
  return specifyLayer(__func__, layer, [&](Layer& l) {
    layerOf<ConvolutionLayer>(l, "convolution").setOverlap(overlapOf(overlap));
  });
}

TenonErrorCode TenonLayerSetCeilMode(TenonLayer layer, TenonBool ceil) noexcept {
  return specifyLayer(__func__, layer, [&](Layer& l) {
    layerOf<PoolingLayer>(l, "pooling");
    changeWindows(l, [&](Window& window, int) { window.ceil = ceil != TENON_FALSE; });
  });
}

TenonErrorCode TenonLayerSetBias(TenonLayer layer, TenonBool bias) noexcept {
  return specifyLayer(__func__, layer, [&](Layer& l) {
    if (auto* convolution = dynamic_cast<ConvolutionLayer*>(&l))
      convolution->setBias(bias != TENON_FALSE);
    else if (auto* affine = dynamic_cast<AffineLayer*>(&l))
      affine->setBias(bias != TENON_FALSE);
    else
      throwLayerType(l, "convolution and affine");
  });
}

TenonErrorCode TenonLayerSetRate(TenonLayer layer, double rate) noexcept {
  return specifyLayer(__func__, layer,
                      [&](Layer& l) { layerOf<DropoutLayer>(l, "dropout").setRate(rate); });
}

TenonErrorCode TenonLayerSetSlope(TenonLayer layer, double slope) noexcept {
  return specifyLayer(__func__, layer, [&](Layer& l) { setPointwise(l, "slope", slope); });
}

TenonErrorCode TenonLayerSetFactor(TenonLayer layer, double factor) noexcept {
  return specifyLayer(__func__, layer, [&](Layer& l) { setPointwise(l, "factor", factor); });
}

TenonErrorCode TenonLayerSetDataType(TenonLayer layer, TenonDataType type) noexcept {
  return specifyLayer(__func__, layer, [&](Layer& l) { l.setDataType(type); });
}

TenonErrorCode TenonLayerSetStackDepth(TenonLayer layer, int depth) noexcept {
  return specifyLayer(__func__, layer, [&](Layer& l) { l.setStackDepth(depth); });
}

TenonErrorCode TenonLayerSetSignature(TenonLayer layer, const char* letters) noexcept {
  return specifyLayer(__func__, layer,
                      [&](Layer& l) { l.setSignature(textOf(letters, "letters")); });
}

TenonErrorCode TenonLayerSetStorage(TenonLayer layer, const char* storage) noexcept {
  return specifyLayer(__func__, layer, [&](Layer& l) { l.setStorage(textOf(storage, "storage")); });
}

TenonErrorCode TenonLayerSetBackend(TenonLayer layer, const char* backend) noexcept {
  return specifyLayer(__func__, layer, [&](Layer& l) { l.setBackend(textOf(backend, "backend")); });
}

TenonErrorCode TenonLayerSetFromOptions(TenonLayer layer) noexcept {
  return specifyLayer(__func__, layer, [&](Layer& l) { l.setFromOptions(); });
}

TenonErrorCode TenonLayerSetTarget(TenonLayer layer, TenonDTensor target) noexcept {
  return guard(__func__, [&] {
    layerOf<LossLayer>(deref(layer, "layer"), "crossentropy and meansquarederror")
        .setTarget(Ref<DTensor>::share(&deref(target, "target")));
  });
}

TenonErrorCode TenonLayerSetFrozen(TenonLayer layer, TenonBool frozen) noexcept {
  return guard(__func__, [&] { deref(layer, "layer").setFrozen(frozen != TENON_FALSE); });
}

TenonErrorCode TenonLayerSetTraining(TenonLayer layer, TenonBool training) noexcept {
  return guard(__func__, [&] { deref(layer, "layer").setTraining(training != TENON_FALSE); });
}
