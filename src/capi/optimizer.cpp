// SPDX-License-Identifier: BSD-2-Clause
#include "train/optimizer.hpp"

#include "capi/collective.hpp"
#include "sys/guard.hpp"
#include "train/adam.hpp"
#include "train/sgd.hpp"

#include <tenon/optimizer.h>

using namespace tenon;

namespace {

template <class Type>
Type& as(TenonOptimizer handle, const char* type) {
  Optimizer& optimizer = deref(handle, "optimizer");
  if (auto* found = dynamic_cast<Type*>(&optimizer))
    return *found;
  throw Error(TENON_ERR_TYPE, fmt::format("{} has type {}; this call needs type {}",
                                          optimizer.title(), optimizer.type(), type));
}

} // namespace

TenonErrorCode TenonOptimizerCreate(TenonLayer layer, const char* type,
                                    TenonOptimizer* optimizer) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    Layer& l = deref(layer, "layer");
    createTogether(
        *l.comm(), optimizer, "optimizer", "the type",
        [&] { return makeOptimizer(textOf(type, "type"), Ref<Layer>::share(&l)); },
        [](const Ref<Optimizer>& made) { return std::string(made->type()); });
  });
}

TenonErrorCode TenonOptimizerSetLearningRate(TenonOptimizer optimizer, double rate) noexcept {
  return guard(__func__, [&] { deref(optimizer, "optimizer").setLearningRate(rate); });
}

TenonErrorCode TenonOptimizerSetWeightDecay(TenonOptimizer optimizer, double decay) noexcept {
  return guard(__func__, [&] { deref(optimizer, "optimizer").setWeightDecay(decay); });
}

TenonErrorCode TenonOptimizerSGDSetMomentum(TenonOptimizer optimizer, double momentum,
                                            TenonBool nesterov) noexcept {
  return guard(__func__,
               [&] { as<Sgd>(optimizer, "sgd").setMomentum(momentum, nesterov != TENON_FALSE); });
}

TenonErrorCode TenonOptimizerAdamSetBetas(TenonOptimizer optimizer, double beta1,
                                          double beta2) noexcept {
  return guard(__func__, [&] { as<Adam>(optimizer, "adam").setBetas(beta1, beta2); });
}

TenonErrorCode TenonOptimizerAdamSetEpsilon(TenonOptimizer optimizer, double epsilon) noexcept {
  return guard(__func__, [&] { as<Adam>(optimizer, "adam").setEpsilon(epsilon); });
}

TenonErrorCode TenonOptimizerSetFromOptions(TenonOptimizer optimizer) noexcept {
  return guard(__func__, [&] { deref(optimizer, "optimizer").setFromOptions(); });
}

TenonErrorCode TenonOptimizerClipGradientNorm(TenonOptimizer optimizer, double maximum,
                                              double* norm) noexcept {
  return guardApply(__func__, [&] {
    returnIfAlone(optimizer, [&] {
      const double all = deref(optimizer, "optimizer").clipGradientNorm(maximum);
      if (norm)
        *norm = all;
    });
  });
}

TenonErrorCode TenonOptimizerStep(TenonOptimizer optimizer) noexcept {
  return guardApply(
      __func__, [&] { returnIfAlone(optimizer, [&] { deref(optimizer, "optimizer").step(); }); });
}

TenonErrorCode TenonOptimizerGetSteps(TenonOptimizer optimizer, TenonInt* steps) noexcept {
  return guard(__func__, [&] { required(steps, "steps") = deref(optimizer, "optimizer").steps(); });
}

TenonErrorCode TenonOptimizerDestroy(TenonOptimizer* optimizer) noexcept {
  return guard(__func__, [&] { destroy(optimizer, "optimizer"); });
}
