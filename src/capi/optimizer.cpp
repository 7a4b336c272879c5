// SPDX-License-Identifier: BSD-2-Clause
// The calls of TenonOptimizer. A call that one type alone has fails with TENON_ERR_TYPE on the others, which as() says
// by their public names; and a step, like an Apply, has other ranks waiting in it, so that its errors are returned on
// one rank and fatal on several.
#include "train/optimizer.hpp"

#include "capi/collective.hpp"
#include "layer/core/layer.hpp"
#include "sys/errors/guard.hpp"
#include "train/adam.hpp"
#include "train/lbfgs.hpp"
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

// change(settings) changes the settings of the schedule, which are checked together: what one of them may be can depend
// on another.
template <class Change>
TenonErrorCode changeSchedule(const char* function, TenonOptimizer handle, const Change& change) {
  return guard(function, [&] {
    RateSchedule& schedule = deref(handle, "optimizer").schedule();
    RateSchedule::Settings settings = schedule.settings();
    change(settings);
    schedule.set(settings);
  });
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

TenonErrorCode TenonOptimizerLBFGSSetHistory(TenonOptimizer optimizer, TenonInt pairs) noexcept {
  return guard(__func__, [&] { as<Lbfgs>(optimizer, "lbfgs").setHistory(pairs); });
}

TenonErrorCode TenonOptimizerLBFGSSetIterations(TenonOptimizer optimizer,
                                                TenonInt iterations) noexcept {
  return guard(__func__, [&] { as<Lbfgs>(optimizer, "lbfgs").setIterations(iterations); });
}

TenonErrorCode TenonOptimizerLBFGSSetTolerances(TenonOptimizer optimizer, double gradient,
                                                double change) noexcept {
  return guard(__func__, [&] { as<Lbfgs>(optimizer, "lbfgs").setTolerances(gradient, change); });
}

TenonErrorCode TenonOptimizerSetSchedule(TenonOptimizer optimizer, const char* schedule,
                                         TenonInt period, double factor, double least) noexcept {
  return changeSchedule(__func__, optimizer, [&](RateSchedule::Settings& settings) {
    settings.kind = RateSchedule::parseKind(textOf(schedule, "schedule"));
    settings.period = period;
    settings.factor = factor;
    settings.least = least;
  });
}

TenonErrorCode TenonOptimizerSetWarmup(TenonOptimizer optimizer, TenonInt steps) noexcept {
  return changeSchedule(__func__, optimizer,
                        [&](RateSchedule::Settings& settings) { settings.warmup = steps; });
}

TenonErrorCode TenonOptimizerSetPatience(TenonOptimizer optimizer, TenonInt reduce, TenonInt stop,
                                         double improvement) noexcept {
  return changeSchedule(__func__, optimizer, [&](RateSchedule::Settings& settings) {
    settings.patience = reduce;
    settings.stopPatience = stop;
    settings.improvement = improvement;
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

TenonErrorCode TenonOptimizerSetNotFinite(TenonOptimizer optimizer, const char* action) noexcept {
  return guard(__func__,
               [&] { deref(optimizer, "optimizer").setNotFinite(textOf(action, "action")); });
}

TenonErrorCode TenonOptimizerSetFromOptions(TenonOptimizer optimizer) noexcept {
  return guard(__func__, [&] { deref(optimizer, "optimizer").setFromOptions(); });
}

TenonErrorCode TenonOptimizerClipGradientNorm(TenonOptimizer optimizer, double maximum,
                                              double* norm) noexcept {
  return guardApply(
      __func__,
      [&] {
        const double all = derefToApply(optimizer, "optimizer").clipGradientNorm(maximum);
        if (norm)
          *norm = all;
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
        Optimizer& known = derefToApply(optimizer, "optimizer");
        if (!closure)
          throw Error(TENON_ERR_NULL, "closure is NULL; pass a function");
        const double first = known.stepWith([&] {
          double value = 0;
          callUser("the closure of an optimizer",
                   [&] { return closure(optimizer, &value, context); });
          return value;
        });
        if (loss)
          *loss = first;
      },
      isAlone(optimizer));
}

TenonErrorCode TenonOptimizerGetSteps(TenonOptimizer optimizer, TenonInt* steps) noexcept {
  return guard(__func__, [&] { required(steps, "steps") = deref(optimizer, "optimizer").steps(); });
}

TenonErrorCode TenonOptimizerDestroy(TenonOptimizer* optimizer) noexcept {
  return guard(__func__, [&] { destroy(optimizer, "optimizer"); });
}
