// SPDX-License-Identifier: BSD-2-Clause
// TenonOptimizer, which updates the parameters of a network:
//   ClipGradientNorm      scales all gradients together
//   Step                  converts the gradients to the storage layouts and updates the parameters
//   StepClosure           the same, with a function that evaluates the loss (L-BFGS)
//   Report                passes a validation loss to the schedule of the learning rate
// Settings are set by name (object_settings.cpp). A step exchanges messages; if one rank fails, the
// others would wait forever. So an error is returned if there is one rank, and fatal otherwise. The
// calls are declared in tenon/optimizer.h.
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
    createCollectively(
        *l.comm(), optimizer, "optimizer", "the type",
        [&] { return makeOptimizer(textOf(type, "type"), Ref<Layer>::share(&l)); },
        [](const Ref<Optimizer>& object) { return std::string(object->type()); });
  });
}

TenonErrorCode TenonOptimizerSetLearningRate(TenonOptimizer optimizer, double rate) noexcept {
  return guard(__func__, [&] {
    Optimizer& object = deref(optimizer, "optimizer");
    object.specify("TenonOptimizerSetLearningRate", [&] { object.set("learning_rate", rate); });
  });
}

TenonErrorCode TenonOptimizerReport(TenonOptimizer optimizer, double loss,
                                    TenonBool* stop) noexcept {
  return guard(__func__, [&] {
    // Local: the schedule is the same on all ranks, since the caller passes the same loss on all.
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
  return guardApply(
      __func__,
      [&] {
        const double total = derefToApply(optimizer, "optimizer").clipGradientNorm(maximum);
        if (norm)
          *norm = total;
      },
      isAlone(optimizer));
}

TenonErrorCode TenonOptimizerStep(TenonOptimizer optimizer) noexcept {
  return guardApply(
      __func__, [&] { derefToApply(optimizer, "optimizer").step(); }, isAlone(optimizer));
}

TenonErrorCode TenonOptimizerStepClosure(TenonOptimizer optimizer, TenonOptimizerClosure closure,
                                         void* context, double* loss) noexcept {
  return guardApply(
      __func__,
      [&] {
        // The optimizer can call the closure several times, at different parameters, and the loss
        // of the first call is returned.
        Optimizer& object = derefToApply(optimizer, "optimizer");
        if (!closure)
          throw Error(TENON_ERR_NULL, "closure is NULL; pass a function");
        const double firstLoss = object.stepWith([&] {
          double value = 0;
          callUser("the closure of an optimizer",
                   [&] { return closure(optimizer, &value, context); });
          return value;
        });
        if (loss)
          *loss = firstLoss;
      },
      isAlone(optimizer));
}

TenonErrorCode TenonOptimizerGetSteps(TenonOptimizer optimizer, TenonInt* steps) noexcept {
  return guard(__func__, [&] { required(steps, "steps") = deref(optimizer, "optimizer").steps(); });
}

TenonErrorCode TenonOptimizerDestroy(TenonOptimizer* optimizer) noexcept {
  return guard(__func__, [&] { destroy(optimizer, "optimizer"); });
}
