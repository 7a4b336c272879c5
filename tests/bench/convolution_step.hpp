// SPDX-License-Identifier: BSD-2-Clause
// For benchmarks: a float32 convolution in three dimensions, 3 x 3 x 3 with padding 1, with its
// tensors. x is a function of the global position and the parameters of a seed, so split and whole
// tensors have equal values.
#pragma once

#include "bench/handles.hpp"

namespace tenon::bench {

struct ConvolutionStep {
  ConvolutionStep(MPI_Comm comm, int channels, int depth, int elements, const char* split,
                  const char* overlap = "auto")
      : input(makeLayout(comm, {1, channels, depth, elements, elements}, split)) {
    const TenonInt three[] = {3, 3, 3}, one[] = {1, 1, 1};
    require(TenonLayerCreateConv(comm, 3, channels, channels, three, layer.out()));
    require(TenonLayerSetPadding(layer, one, one));
    require(TenonObjectSetText(TenonObject(TenonLayer(layer)), "overlap", overlap));
    require(TenonLayerSetUp(layer, input));
    require(TenonLayerInitialize(layer, 1));
    require(TenonDTensorCreate(input, TENON_FLOAT32, x.out()));
    require(TenonLayerCreateOutput(layer, 0, y.out()));
    require(TenonLayerCreateOutputCotangent(layer, 0, dy.out()));
    require(TenonLayerCreateInputCotangent(layer, 0, dx.out()));
    require(TenonDTensorFillUniform(x, /*seed=*/1, /*stream=*/1, -1, 1));
    require(TenonDTensorFillUniform(dy, /*seed=*/1, /*stream=*/2, -1, 1));
  }
  void forward() {
    require(TenonLayerSetTraining(layer, TENON_FALSE));
    require(TenonLayerApply(layer, x, y));
  }
  void both() {
    require(TenonLayerSetTraining(layer, TENON_TRUE));
    require(TenonLayerApply(layer, x, y));
    require(TenonLayerApplyAdjoint(layer, dy, dx));
  }

  LayoutHandle input;
  LayerHandle layer;
  TensorHandle x, y, dx, dy;
};

} // namespace tenon::bench
