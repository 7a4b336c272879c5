// SPDX-License-Identifier: BSD-2-Clause
// The calls of TenonPlan, the plan of a network of layers that runs. What is asked of a plan, its
// search and what was found are local: ranks that ask the same find the same. Calls that set up, or
// read and write files, are collective on the network and agree on errors themselves.
#include "plan/layer_plan.hpp"

#include "capi/arguments.hpp"
#include "capi/collective.hpp"
#include "capi/plan_numbers.hpp"
#include "comm/layout_object.hpp"
#include "comm/machine_object.hpp"
#include "layer/core/layer.hpp"
#include "sys/errors/guard.hpp"

#include <tenon/plan.h>

using namespace tenon;

namespace {

const Layout& layoutFor(const LayerPlan& plan, TenonLayout handle) {
  const LayoutObject& given = deref(handle, "layout");
  if (given.comm() != plan.comm())
    throw Error(TENON_ERR_ARG, "the layout and the network of the plan are on different "
                               "communicators; create them on the same one");
  return given.layout();
}

const PlannedLayer& plannedLayer(TenonPlan plan, const char* layer) {
  return deref(plan, "plan").layerNamed(textOf(layer, "layer"));
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
    LayerPlan& changed = deref(plan, "plan");
    changed.setInput(layoutFor(changed, layout));
  });
}

TenonErrorCode TenonPlanSetOutput(TenonPlan plan, TenonLayout layout) noexcept {
  return guard(__func__, [&] {
    LayerPlan& changed = deref(plan, "plan");
    changed.setOutput(layoutFor(changed, layout));
  });
}

TenonErrorCode TenonPlanSetMachine(TenonPlan plan, TenonMachine machine) noexcept {
  return guard(__func__, [&] {
    LayerPlan& changed = deref(plan, "plan");
    changed.setMachine(deref(machine, "machine").machine());
  });
}

TenonErrorCode TenonPlanFix(TenonPlan plan, const char* layer, const char* word) noexcept {
  return guard(__func__,
               [&] { deref(plan, "plan").fix(textOf(layer, "layer"), textOf(word, "word")); });
}

TenonErrorCode TenonPlanSearch(TenonPlan plan) noexcept {
  return guard(__func__, [&] { deref(plan, "plan").search(); });
}

TenonErrorCode TenonPlanSetUp(TenonPlan plan) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    deref(plan, "plan").setUp();
  });
}

TenonErrorCode TenonPlanSave(TenonPlan plan, const char* path) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    deref(plan, "plan").save(textOf(path, "path"));
  });
}

TenonErrorCode TenonPlanLoad(TenonPlan plan, const char* path) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    deref(plan, "plan").load(textOf(path, "path"));
  });
}

TenonErrorCode TenonPlanGetNumber(TenonPlan plan, const char* layer, const char* name,
                                  double* value) noexcept {
  return guard(__func__,
               [&] { required(value, "value") = plannedNumber(deref(plan, "plan"), layer, name); });
}

TenonErrorCode TenonPlanGetLayerCount(TenonPlan plan, TenonInt* count) noexcept {
  return guard(__func__, [&] {
    required(count, "count") = static_cast<TenonInt>(deref(plan, "plan").found().layers.size());
  });
}

TenonErrorCode TenonPlanGetLayerName(TenonPlan plan, TenonInt index, char name[], TenonInt length,
                                     TenonInt* needed) noexcept {
  return guard(__func__, [&] {
    copyText(deref(plan, "plan").layer(index).name, {name, length, needed}, "name");
  });
}

TenonErrorCode TenonPlanGetWord(TenonPlan plan, const char* layer, char word[], TenonInt length,
                                TenonInt* needed) noexcept {
  return guard(__func__, [&] {
    copyText(plannedLayer(plan, layer).letters, {word, length, needed}, "word");
  });
}

TenonErrorCode TenonPlanGetRunnerUp(TenonPlan plan, const char* layer, char word[], TenonInt length,
                                    TenonInt* needed) noexcept {
  return guard(__func__, [&] {
    copyText(plannedLayer(plan, layer).runnerUp, {word, length, needed}, "word");
  });
}

TenonErrorCode TenonPlanReport(TenonPlan plan) noexcept {
  return guard(__func__, [&] {
    const LayerPlan& known = deref(plan, "plan");
    const std::string text = known.report(); // with all ranks
    if (known.comm()->rank() == 0)
      print(viewText(text));
  });
}

TenonErrorCode TenonPlanCalibrate(TenonPlan plan, double* latency, double* bandwidth,
                                  double* flops) noexcept {
  return guard(__func__, [&] {
    const OwnRates rates = deref(plan, "plan").calibrated();
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
    const OwnRates rates = deref(measured, "measured").calibrated();
    deref(plan, "plan").setRates(rates);
  });
}

TenonErrorCode TenonPlanGetLayer(TenonPlan plan, TenonLayer* layer) noexcept {
  return guard(__func__, [&] {
    Layer& made = deref(plan, "plan").layer();
    required(layer, "layer");
    give(layer, Ref<Layer>::share(&made));
  });
}

TenonErrorCode TenonPlanGetInputLayout(TenonPlan plan, TenonLayout* layout) noexcept {
  return guard(__func__, [&] {
    const LayerPlan& known = deref(plan, "plan");
    const Layout& input = known.inputLayout();
    required(layout, "layout");
    give(layout, makeRef<LayoutObject>(known.comm(), input));
  });
}

TenonErrorCode TenonPlanDestroy(TenonPlan* plan) noexcept {
  return guard(__func__, [&] { destroy(plan, "plan"); });
}
