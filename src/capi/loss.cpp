// SPDX-License-Identifier: BSD-2-Clause
#include "capi/handle.hpp"
#include "layer/layer.hpp"
#include "sys/guard.hpp"

#include <tenon/loss.h>

using namespace tenon;

TenonErrorCode TenonLayerSetTargetWeights(TenonLayer layer, TenonDTensor weights) noexcept {
  return guard(__func__, [&] {
    Layer& l = deref(layer, "layer");
    l.setTargetWeights(Ref<DTensor>::share(&deref(weights, "weights")));
  });
}
