// SPDX-License-Identifier: BSD-2-Clause
// Setters of layers. A failed one is remembered, and SetUp fails for it on all ranks.
#include "capi/collective.hpp"
#include "layer/affine_layer.hpp"
#include "layer/convolution_layer.hpp"
#include "layer/loss_layer.hpp"
#include "layer/pointwise_layer.hpp"
#include "layer/pooling_layer.hpp"
#include "layer/sequential_layer.hpp"
#include "sys/guard.hpp"

#include <tenon/layer.h>

using namespace tenon;

namespace {

template <class Set>
TenonErrorCode specify(const char* function, TenonLayer handle, Set set) {
  return guard(function, [&] {
    Layer& layer = deref(handle, "layer");
    layer.specify(function, [&] { set(layer); });
  });
}

[[noreturn]] void throwType(const Layer& layer, const char* expected) {
  throw Error(TENON_ERR_TYPE, fmt::format("{} is of type {}; this call is for {}", layer.title(),
                                          layer.type(), expected));
}

// Changes the windows of a convolution or pooling layer: change(window, spatial dimension).
template <class Change>
void changeWindows(Layer& layer, Change change) {
  auto apply = [&](auto& windowed) {
    std::vector<Window> windows;
    for (int d = 0; d < windowed.spatialRank(); ++d) {
      windows.push_back(windowed.window(d));
      change(windows.back(), d);
    }
    windowed.setWindows(std::move(windows));
  };
  if (auto* convolution = dynamic_cast<ConvolutionLayer*>(&layer))
    apply(*convolution);
  else if (auto* pooling = dynamic_cast<PoolingLayer*>(&layer))
    apply(*pooling);
  else
    throwType(layer, "convolution and pooling");
}

void setPointwise(Layer& layer, const char* name, double value) {
  auto* pointwise = dynamic_cast<PointwiseLayer*>(&layer);
  if (!pointwise)
    throwType(layer, "functions of each element");
  pointwise->setParameter(name, value);
}

} // namespace

TenonErrorCode TenonLayerSetStride(TenonLayer layer, const TenonInt stride[]) noexcept {
  return specify(__func__, layer, [&](Layer& l) {
    const TenonInt& first = required(stride, "stride");
    changeWindows(l, [&](Window& window, int d) { window.stride = (&first)[d]; });
  });
}

TenonErrorCode TenonLayerSetDilation(TenonLayer layer, const TenonInt dilation[]) noexcept {
  return specify(__func__, layer, [&](Layer& l) {
    const TenonInt& first = required(dilation, "dilation");
    changeWindows(l, [&](Window& window, int d) { window.dilation = (&first)[d]; });
  });
}

TenonErrorCode TenonLayerSetPadding(TenonLayer layer, const TenonInt low[],
                                    const TenonInt high[]) noexcept {
  return specify(__func__, layer, [&](Layer& l) {
    const TenonInt* lows = &required(low, "low");
    const TenonInt* highs = high ? high : lows;
    changeWindows(l, [&](Window& window, int d) {
      window.padLow = lows[d];
      window.padHigh = highs[d];
    });
  });
}

TenonErrorCode TenonLayerSetGroups(TenonLayer layer, TenonInt groups) noexcept {
  return specify(__func__, layer, [&](Layer& l) {
    auto* convolution = dynamic_cast<ConvolutionLayer*>(&l);
    if (!convolution)
      throwType(l, "convolution");
    convolution->setGroups(groups);
  });
}

TenonErrorCode TenonLayerSetCeilMode(TenonLayer layer, TenonBool ceil) noexcept {
  return specify(__func__, layer, [&](Layer& l) {
    if (!dynamic_cast<PoolingLayer*>(&l))
      throwType(l, "pooling");
    changeWindows(l, [&](Window& window, int) { window.ceil = ceil != TENON_FALSE; });
  });
}

TenonErrorCode TenonLayerSetBias(TenonLayer layer, TenonBool bias) noexcept {
  return specify(__func__, layer, [&](Layer& l) {
    if (auto* convolution = dynamic_cast<ConvolutionLayer*>(&l))
      convolution->setBias(bias != TENON_FALSE);
    else if (auto* affine = dynamic_cast<AffineLayer*>(&l))
      affine->setBias(bias != TENON_FALSE);
    else
      throwType(l, "convolution and affine");
  });
}

TenonErrorCode TenonLayerSetSlope(TenonLayer layer, double slope) noexcept {
  return specify(__func__, layer, [&](Layer& l) { setPointwise(l, "slope", slope); });
}

TenonErrorCode TenonLayerSetFactor(TenonLayer layer, double factor) noexcept {
  return specify(__func__, layer, [&](Layer& l) { setPointwise(l, "factor", factor); });
}

TenonErrorCode TenonLayerSetDataType(TenonLayer layer, TenonDataType type) noexcept {
  return specify(__func__, layer, [&](Layer& l) { l.setDataType(type); });
}

TenonErrorCode TenonLayerSetStackDepth(TenonLayer layer, int depth) noexcept {
  return specify(__func__, layer, [&](Layer& l) { l.setStackDepth(depth); });
}

TenonErrorCode TenonLayerSetSignature(TenonLayer layer, const char* letters) noexcept {
  return specify(__func__, layer, [&](Layer& l) { l.setSignature(textOf(letters, "letters")); });
}

TenonErrorCode TenonLayerSetStorage(TenonLayer layer, const char* storage) noexcept {
  return specify(__func__, layer, [&](Layer& l) { l.setStorage(textOf(storage, "storage")); });
}

TenonErrorCode TenonLayerSetBackend(TenonLayer layer, const char* backend) noexcept {
  return specify(__func__, layer, [&](Layer& l) { l.setBackend(textOf(backend, "backend")); });
}

TenonErrorCode TenonLayerSetFromOptions(TenonLayer layer) noexcept {
  return specify(__func__, layer, [&](Layer& l) { l.setFromOptions(); });
}

TenonErrorCode TenonLayerSequentialAdd(TenonLayer container, TenonLayer layer) noexcept {
  return specify(__func__, container, [&](Layer& l) {
    auto* sequential = dynamic_cast<SequentialLayer*>(&l);
    if (!sequential)
      throwType(l, "sequential");
    sequential->add(Ref<Layer>::share(&deref(layer, "layer")));
  });
}

TenonErrorCode TenonLayerSetTarget(TenonLayer layer, TenonDTensor target) noexcept {
  return guard(__func__, [&] {
    Layer& l = deref(layer, "layer");
    auto* loss = dynamic_cast<LossLayer*>(&l);
    if (!loss)
      throwType(l, "crossentropy and meansquarederror");
    loss->setTarget(Ref<DTensor>::share(&deref(target, "target")));
  });
}

TenonErrorCode TenonLayerSetTraining(TenonLayer layer, TenonBool training) noexcept {
  return guard(__func__, [&] { deref(layer, "layer").setTraining(training != TENON_FALSE); });
}
