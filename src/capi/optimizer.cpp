// SPDX-License-Identifier: BSD-2-Clause
// The calls of TenonOptimizer, whose settings are set by name (object_settings.cpp). A step, like an Apply, has other
// ranks waiting in it, so that its errors are returned on one rank and fatal on several.
#include "train/optimizer.hpp"

#include "capi/collective.hpp"
#include "layer/core/layer.hpp"
#include "sys/errors/guard.hpp"

#include <tenon/optimizer.h>

using namespace tenon;

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
  return guard(__func__, [&] {
    Optimizer& known = deref(optimizer, "optimizer");
    known.specify("TenonOptimizerSetLearningRate", [&] { known.set("learning_rate", rate); });
  });
}

TenonErrorCode TenonOptimizerReport(TenonOptimizer optimizer, double loss,
                                    TenonBool* stop) noexcept {
  return guard(__func__, [&] {
    const bool shouldStop = deref(optimizer, "optimizer").schedule().report(loss);
    if (stop)
      *stop = shouldStop ? TENON_TRUE : TENON_FALSE;
  });
}

TenonErrorCode TenonOptimizerGetLearningRate(TenonOptimizer optimizer, double* rate) noexcept {
  return guard(__func__,
               [&] { required(rate, "rate") = deref(optimizer, "optimizer").currentRate(); });
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

TenonErrorCode TenonOptimizerStepClosure(TenonOptimizer optimizer, TenonOptimizerClosure closure,
                                         void* context, double* loss) noexcept {
  return guardApply(__func__, [&] {
    returnIfAlone(optimizer, [&] {
      if (!closure)
        throw Error(TENON_ERR_NULL, "closure is NULL; pass a function");
      const double first = deref(optimizer, "optimizer").stepWith([&] {
        double value = 0;
        callUser("the closure of an optimizer",
                 [&] { return closure(optimizer, &value, context); });
        return value;
      });
      if (loss)
        *loss = first;
    });
  });
}

TenonErrorCode TenonOptimizerGetSteps(TenonOptimizer optimizer, TenonInt* steps) noexcept {
  return guard(__func__, [&] { required(steps, "steps") = deref(optimizer, "optimizer").steps(); });
}

TenonErrorCode TenonOptimizerDestroy(TenonOptimizer* optimizer) noexcept {
  return guard(__func__, [&] { destroy(optimizer, "optimizer"); });
}
