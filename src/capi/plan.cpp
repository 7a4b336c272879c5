// SPDX-License-Identifier: BSD-2-Clause
// TenonPlan, a search for the fastest parallelization of each layer of a network:
//   Create, SetInput, SetOutput, SetMachine, Fix   the request                          local
//   Search, GetNumber, GetText                     predicted times and bytes            local
//   SetUp                                          sets the network up as planned       collective
//   GetLayer, GetInputLayout                       the layer that runs, its inputs      local
//   Report, Calibrate                              predicted and measured times         collective
//   Save, Load                                     the plan in a file                   collective
// The search is deterministic and sends no messages, so equal requests lead to equal plans on all
// ranks. Collective calls are collective on the communicator of the network. Class LayerPlan does
// the work; this file converts arguments, and finds numbers of a plan by their names. The calls are
// declared in tenon/plan.h.
#include "plan/layer_plan.hpp"

#include "capi/arguments.hpp"
#include "capi/collective.hpp"
#include "capi/layer/create.hpp"
#include "comm/layout_object.hpp"
#include "comm/machine_object.hpp"
#include "dtensor/dtensor.hpp"
#include "layer/core/layer.hpp"
#include "sys/errors/guard.hpp"
#include "sys/text/text.hpp"

#include <tenon/plan.h>

using namespace tenon;

namespace {

// Time of a standard plan, such as "batch" (all layers split by batch). If it does not exist, the
// error has a code of its own, TENON_ERR_STATE, which a program can handle.
double baselineSeconds(const std::optional<Baseline>& baseline, const std::string& which) {
  if (!baseline)
    throw Error(TENON_ERR_STATE,
                fmt::format("there is no plan '{}' of this network, batch and number of processes: "
                            "a layer cannot be divided like that",
                            which));
  return baseline->seconds;
}

// Time with overlap of communication and computation, which is predicted only on request.
double overlappedSeconds(const FoundPlan& plan) {
  if (!plan.overlapped)
    throw Error(TENON_ERR_STATE, "the plan was searched without overlap; set its share, the "
                                 "setting overlap_share");
  return *plan.overlapped;
}

// A number of a plan (kPlanNumbers) or of one of its layers (kLayerNumbers), by its name in
// TenonPlanGetNumber(). Times are in seconds, sizes in bytes.
template <class Source>
struct NamedNumber {
  const char* name;
  double (*value)(const Source& source); // returns the number from a FoundPlan or a PlannedLayer
};

constexpr NamedNumber<FoundPlan> kPlanNumbers[] = {
    {"seconds", [](const FoundPlan& p) { return p.seconds; }},
    {"overlapped", overlappedSeconds},
    {"uniform", [](const FoundPlan& p) { return baselineSeconds(p.baselines.uniform, "uniform"); }},
    {"batch", [](const FoundPlan& p) { return baselineSeconds(p.baselines.batch, "batch"); }},
    {"model", [](const FoundPlan& p) { return baselineSeconds(p.baselines.model, "model"); }},
    {"domain", [](const FoundPlan& p) { return baselineSeconds(p.baselines.domain, "domain"); }},
    {"bytes", [](const FoundPlan& p) { return p.bytes; }},
    {"gap", [](const FoundPlan& p) { return p.gap; }},
    {"recompute", [](const FoundPlan& p) { return p.recomputationSeconds; }},
    {"shared", [](const FoundPlan& p) { return p.sharedSeconds; }},
    {"layers", [](const FoundPlan& p) { return static_cast<double>(p.layers.size()); }},
    {"searches", [](const FoundPlan& p) { return static_cast<double>(p.rounds); }},
    {"processes", [](const FoundPlan& p) { return static_cast<double>(p.grid->size()); }},
    {"reversed", [](const FoundPlan& p) { return p.spaceOutermost ? 1.0 : 0.0; }},
};
constexpr NamedNumber<PlannedLayer> kLayerNumbers[] = {
    {"bytes", [](const PlannedLayer& l) { return l.bytes; }},
    {"channel_parts", [](const PlannedLayer& l) { return static_cast<double>(l.parts.channels); }},
    {"space_parts", [](const PlannedLayer& l) { return static_cast<double>(l.parts.space); }},
    {"batch_parts", [](const PlannedLayer& l) { return static_cast<double>(l.parts.batch); }},
    {"runner_up", [](const PlannedLayer& l) { return l.runnerUpSeconds; }},
};

// Returns the number with this name. Throws TENON_ERR_ARG, with all names, if there is none.
template <class Source, std::size_t n>
double numberNamed(const NamedNumber<Source> (&numbers)[n], const std::string& name,
                   const Source& source) {
  std::vector<std::string> names;
  for (const auto& number : numbers) {
    if (name == number.name)
      return number.value(source);
    names.emplace_back(number.name);
  }
  throw Error(TENON_ERR_ARG,
              fmt::format("there is no number '{}'; use one of {}", name, joined(names)));
}

const PlannedLayer& plannedLayer(TenonPlan plan, const char* layer) {
  return deref(plan, "plan").layerNamed(textOf(layer, "layer"));
}

// Returns the layout behind a handle, which must be on the communicator of the plan's network.
const Layout& layoutFor(const LayerPlan& plan, TenonLayout handle) {
  const LayoutObject& layoutObject = deref(handle, "layout");
  if (layoutObject.comm() != plan.comm())
    throw Error(TENON_ERR_ARG, "the layout and the network of the plan are on different "
                               "communicators; create them on the same one");
  return layoutObject.layout();
}

// Returns the rates of this machine (latency, bandwidth, flops per second) with which the predicted
// times fit the measured ones best. Collective.
OwnRates calibratedTogether(const LayerPlan& plan) {
  return collectively(*plan.comm(), [&] { return plan.calibrated(); });
}

} // namespace

TenonErrorCode TenonPlanCreate(TenonLayer network, TenonInt batch, TenonPlan* plan) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    // Local, like all calls before SetUp, which compares the requests of the ranks.
    auto object = makeRef<LayerPlan>(Ref<Layer>::share(&deref(network, "network")), batch);
    required(plan, "plan");
    giveHandle(plan, std::move(object));
  });
}

TenonErrorCode TenonPlanSetInput(TenonPlan plan, int input, TenonLayout layout) noexcept {
  return guard(__func__, [&] {
    LayerPlan& object = deref(plan, "plan");
    object.setInput(input, layoutFor(object, layout));
  });
}

TenonErrorCode TenonPlanSetOutput(TenonPlan plan, TenonLayout layout) noexcept {
  return guard(__func__, [&] {
    LayerPlan& object = deref(plan, "plan");
    object.setOutput(layoutFor(object, layout));
  });
}

TenonErrorCode TenonPlanSetMachine(TenonPlan plan, TenonMachine machine) noexcept {
  return guard(__func__, [&] {
    LayerPlan& object = deref(plan, "plan");
    object.setMachine(deref(machine, "machine").machine());
  });
}

TenonErrorCode TenonPlanFix(TenonPlan plan, const char* layer, const char* labels) noexcept {
  return guard(__func__,
               [&] { deref(plan, "plan").fix(textOf(layer, "layer"), textOf(labels, "labels")); });
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
    LayerPlan& object = deref(plan, "plan");
    runCollectively(*object.comm(), [&] { object.save(textOf(path, "path")); });
  });
}

TenonErrorCode TenonPlanLoad(TenonPlan plan, const char* path) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    LayerPlan& object = deref(plan, "plan");
    runCollectively(*object.comm(), [&] { object.load(textOf(path, "path")); });
  });
}

TenonErrorCode TenonPlanGetNumber(TenonPlan plan, const char* layer, const char* name,
                                  double* value) noexcept {
  return guard(__func__, [&] {
    const FoundPlan& result = deref(plan, "plan").found();
    const std::string number = textOf(name, "name");
    required(value, "value") = layer ? numberNamed(kLayerNumbers, number, plannedLayer(plan, layer))
                                     : numberNamed(kPlanNumbers, number, result);
  });
}

TenonErrorCode TenonPlanGetLayerName(TenonPlan plan, TenonInt index, char name[], TenonInt length,
                                     TenonInt* needed) noexcept {
  return guard(__func__, [&] {
    copyText(deref(plan, "plan").layerAt(index).name, {name, length, needed}, "name");
  });
}

TenonErrorCode TenonPlanGetText(TenonPlan plan, const char* layer, const char* name, char text[],
                                TenonInt length, TenonInt* needed) noexcept {
  return guard(__func__, [&] {
    const PlannedLayer& planned = plannedLayer(plan, layer);
    const std::string which = textOf(name, "name");
    if (which != "labels" && which != "runner_up")
      throw Error(TENON_ERR_ARG,
                  fmt::format("there is no text '{}'; use labels or runner_up", which));
    copyText(which == "labels" ? planned.labels : planned.runnerUp, {text, length, needed}, "text");
  });
}

TenonErrorCode TenonPlanReport(TenonPlan plan) noexcept {
  return guard(__func__, [&] {
    const LayerPlan& object = deref(plan, "plan");
    const std::string text = collectively(*object.comm(), [&] { return object.report(); });
    if (object.comm()->rank() == 0)
      print(viewText(text));
  });
}

TenonErrorCode TenonPlanCalibrate(TenonPlan plan, double* latency, double* bandwidth,
                                  double* flops) noexcept {
  return guard(__func__, [&] {
    const OwnRates rates = calibratedTogether(deref(plan, "plan"));
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
    const OwnRates rates = calibratedTogether(deref(measured, "measured"));
    deref(plan, "plan").setRates(rates);
  });
}

TenonErrorCode TenonPlanGetLayer(TenonPlan plan, TenonLayer* layer) noexcept {
  return guard(__func__, [&] {
    Layer& network = deref(plan, "plan").layer();
    required(layer, "layer");
    giveHandle(layer, Ref<Layer>::share(&network));
  });
}

TenonErrorCode TenonPlanGetInputLayout(TenonPlan plan, int input, TenonLayout* layout) noexcept {
  return guard(__func__, [&] {
    const LayerPlan& object = deref(plan, "plan");
    const Layout& inputLayout = oneOf(object.layer(), object.inputLayouts(), input, "input");
    required(layout, "layout");
    giveHandle(layout, makeRef<LayoutObject>(object.comm(), inputLayout));
  });
}

TenonErrorCode TenonPlanDestroy(TenonPlan* plan) noexcept {
  return guard(__func__, [&] { destroy(plan, "plan"); });
}
