// SPDX-License-Identifier: BSD-2-Clause
// The types of layers.
#include "capi/layer_create.hpp"
#include "layer/affine_layer.hpp"
#include "layer/convolution_layer.hpp"
#include "layer/cross_entropy_layer.hpp"
#include "layer/dropout_layer.hpp"
#include "layer/flatten_layer.hpp"
#include "layer/mean_squared_error_layer.hpp"
#include "layer/pointwise_layer.hpp"
#include "layer/pooling_layer.hpp"

#include <tenon/layer_create.h>

using namespace tenon;

namespace {

static_assert(static_cast<int>(PoolingMode::Max) == TENON_POOLING_MAX &&
              static_cast<int>(PoolingMode::AverageIncludePad) ==
                  TENON_POOLING_AVERAGE_INCLUDE_PAD &&
              static_cast<int>(PoolingMode::AverageExcludePad) ==
                  TENON_POOLING_AVERAGE_EXCLUDE_PAD);

PoolingMode poolingModeOf(TenonPoolingMode mode) {
  if (mode < TENON_POOLING_MAX || mode > TENON_POOLING_AVERAGE_EXCLUDE_PAD)
    throw Error(TENON_ERR_ARG, fmt::format("mode is {}; use a TENON_POOLING_... constant",
                                           static_cast<int>(mode)));
  return static_cast<PoolingMode>(mode);
}

std::vector<Window> windowsOf(int spatial, const TenonInt* kernel, bool strideIsKernel) {
  if (spatial < 1 || spatial > kMaxSpatial)
    throw Error(TENON_ERR_ARG,
                fmt::format("the number of spatial dimensions is {}; it must be in 1 to {}",
                            spatial, kMaxSpatial));
  std::vector<Window> windows;
  for (Index k : listOf(kernel, spatial, "kernel")) {
    if (k < 1)
      throw Error(TENON_ERR_ARG,
                  fmt::format("kernel[{}] is {}; it must be >= 1", windows.size(), k));
    windows.push_back({.kernel = k, .stride = strideIsKernel ? k : 1});
  }
  return windows;
}

} // namespace

TenonErrorCode TenonLayerCreateConv(MPI_Comm comm, int spatial, TenonInt inChannels,
                                    TenonInt outChannels, const TenonInt kernel[],
                                    TenonLayer* layer) noexcept {
  return createLayer(__func__, comm, layer, [&](const CommPtr& own) {
    return makeRef<ConvolutionLayer>(own, inChannels, outChannels,
                                     windowsOf(spatial, kernel, false));
  });
}

TenonErrorCode TenonLayerCreatePooling(MPI_Comm comm, TenonPoolingMode mode, int spatial,
                                       const TenonInt kernel[], TenonLayer* layer) noexcept {
  return createLayer(__func__, comm, layer, [&](const CommPtr& own) {
    return makeRef<PoolingLayer>(own, poolingModeOf(mode), windowsOf(spatial, kernel, true));
  });
}

TenonErrorCode TenonLayerCreateAffine(MPI_Comm comm, TenonInt inputs, TenonInt outputs,
                                      TenonLayer* layer) noexcept {
  return createLayer(__func__, comm, layer, [&](const CommPtr& own) {
    return makeRef<AffineLayer>(own, inputs, outputs);
  });
}

TenonErrorCode TenonLayerCreatePointwise(MPI_Comm comm, const char* function,
                                         TenonLayer* layer) noexcept {
  return createLayer(__func__, comm, layer, [&](const CommPtr& own) {
    return makeRef<PointwiseLayer>(own, parsePointwise(textOf(function, "function")));
  });
}

TenonErrorCode TenonLayerCreateFlatten(MPI_Comm comm, TenonLayer* layer) noexcept {
  return createLayer(__func__, comm, layer,
                     [](const CommPtr& own) { return makeRef<FlattenLayer>(own); });
}

TenonErrorCode TenonLayerCreateCrossEntropy(MPI_Comm comm, TenonLayer* layer) noexcept {
  return createLayer(__func__, comm, layer,
                     [](const CommPtr& own) { return makeRef<CrossEntropyLayer>(own); });
}

TenonErrorCode TenonLayerCreateDropout(MPI_Comm comm, double rate, TenonLayer* layer) noexcept {
  return createLayer(__func__, comm, layer,
                     [&](const CommPtr& own) { return makeRef<DropoutLayer>(own, rate); });
}

TenonErrorCode TenonLayerCreateMeanSquaredError(MPI_Comm comm, TenonLayer* layer) noexcept {
  return createLayer(__func__, comm, layer,
                     [](const CommPtr& own) { return makeRef<MeanSquaredErrorLayer>(own); });
}
