// SPDX-License-Identifier: BSD-2-Clause
// The set-up of plans of networks of layers, whose layer then runs. A TenonPlan may also be a plan of declarations alone,
// without anything to run, so each call asks first which it has.
#include "plan/layer_plan.hpp"

#include "capi/collective.hpp"
#include "comm/layout_object.hpp"
#include "dtensor/dtensor.hpp"
#include "layer/core/layer.hpp"
#include "sys/errors/guard.hpp"

#include <tenon/plan_run.h>

using namespace tenon;

namespace {

LayerPlan& layerPlan(TenonPlan handle) {
  if (auto* plan = dynamic_cast<LayerPlan*>(&deref(handle, "plan")))
    return *plan;
  throw Error(TENON_ERR_TYPE, "the plan has no layers to run, only declarations of them; create it "
                              "with TenonPlanCreate() from a network");
}

const Layout& layoutFor(const LayerPlan& plan, TenonLayout handle) {
  const LayoutObject& given = deref(handle, "layout");
  if (given.comm() != plan.comm())
    throw Error(TENON_ERR_ARG, "the layout and the network of the plan are on different "
                               "communicators; create them on the same one");
  return given.layout();
}

} // namespace

TenonErrorCode TenonPlanCreate(TenonLayer network, TenonInt batch, TenonPlan* plan) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    auto made = makeRef<LayerPlan>(Ref<Layer>::share(&deref(network, "network")), batch);
    required(plan, "plan");
    give(plan, std::move(made));
  });
}

TenonErrorCode TenonPlanSetInput(TenonPlan plan, TenonLayout layout) noexcept {
  return guard(__func__, [&] {
    LayerPlan& changed = layerPlan(plan);
    changed.setInput(layoutFor(changed, layout));
  });
}

TenonErrorCode TenonPlanSetOutput(TenonPlan plan, TenonLayout layout) noexcept {
  return guard(__func__, [&] {
    LayerPlan& changed = layerPlan(plan);
    changed.setOutput(layoutFor(changed, layout));
  });
}

TenonErrorCode TenonPlanSetUp(TenonPlan plan) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    layerPlan(plan).setUp();
  });
}

TenonErrorCode TenonPlanSave(TenonPlan plan, const char* path) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    layerPlan(plan).save(textOf(path, "path"));
  });
}

TenonErrorCode TenonPlanLoad(TenonPlan plan, const char* path) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    layerPlan(plan).load(textOf(path, "path"));
  });
}

TenonErrorCode TenonPlanReport(TenonPlan plan) noexcept {
  return guard(__func__, [&] {
    const LayerPlan& known = layerPlan(plan);
    const std::string text = known.report(); // with all ranks
    if (known.comm()->rank() == 0)
      print(viewText(text));
  });
}

TenonErrorCode TenonPlanCalibrate(TenonPlan plan, double* latency, double* bandwidth,
                                  double* flops) noexcept {
  return guard(__func__, [&] {
    const OwnRates rates = layerPlan(plan).calibrated();
    if (latency)
      *latency = rates.links.latency;
    if (bandwidth)
      *bandwidth = rates.links.bandwidth;
    if (flops)
      *flops = rates.kernels.flops;
  });
}

TenonErrorCode TenonPlanSetRatesFrom(TenonPlan plan, TenonPlan measured) noexcept {
  return guard(__func__, [&] {
    const OwnRates rates = layerPlan(measured).calibrated();
    NetworkPlan& changed = deref(plan, "plan");
    if (auto* runs = dynamic_cast<LayerPlan*>(&changed); runs && runs->isSetUp())
      throw Error(TENON_ERR_STATE, "the plan is set up; create another for the same network, and "
                                   "set its rates before TenonPlanSetUp()");
    changed.setRates(rates);
  });
}

TenonErrorCode TenonPlanGetLayer(TenonPlan plan, TenonLayer* layer) noexcept {
  return guard(__func__, [&] {
    Layer& made = layerPlan(plan).layer();
    required(layer, "layer");
    give(layer, Ref<Layer>::share(&made));
  });
}

TenonErrorCode TenonPlanGetInputLayout(TenonPlan plan, TenonLayout* layout) noexcept {
  return guard(__func__, [&] {
    const LayerPlan& known = layerPlan(plan);
    const Layout& input = known.inputLayout();
    required(layout, "layout");
    give(layout, makeRef<LayoutObject>(known.comm(), input));
  });
}
