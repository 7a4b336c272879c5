// SPDX-License-Identifier: BSD-2-Clause
// The calls of TenonPlan that need no processes: what is planned and for which machine, what is
// fixed, the search, and what it found. What is asked of a plan are its settings
// (object_settings.cpp). All are local, also for a plan of layers: ranks that ask the same find the
// same.
#include "planner/network_plan.hpp"

#include "capi/arguments.hpp"
#include "comm/machine_object.hpp"
#include "plan/layer_plan.hpp"
#include "planner/prices/word.hpp"
#include "sys/errors/guard.hpp"
#include "sys/text/text.hpp"

#include <tenon/ext/plan.h>

#include <fmt/ranges.h>

using namespace tenon;

namespace {

// A baseline that is not possible is an answer with a code of its own, which a program can expect.
double baselineSeconds(const std::optional<Baseline>& baseline, const std::string& which) {
  if (!baseline)
    throw Error(TENON_ERR_STATE,
                fmt::format("there is no plan '{}' of this network, batch and number of processes: "
                            "a layer cannot be divided like that",
                            which));
  return baseline->seconds;
}

double overlappedSeconds(const FoundPlan& found) {
  if (!found.overlapped)
    throw Error(TENON_ERR_STATE, "the plan was searched without overlap; set its share, the "
                                 "setting overlap_share");
  return *found.overlapped;
}

// A number of a plan or of one of its layers, by the name under which the header lists it.
template <class Of>
struct NamedNumber {
  const char* name;
  double (*value)(const Of& of);
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

template <class Of, std::size_t n>
double numberNamed(const NamedNumber<Of> (&numbers)[n], const std::string& name, const Of& of) {
  std::vector<std::string> names;
  for (const auto& number : numbers) {
    if (name == number.name)
      return number.value(of);
    names.emplace_back(number.name);
  }
  throw Error(TENON_ERR_ARG,
              fmt::format("there is no number '{}'; use one of {}", name, joined(names)));
}

const PlannedLayer& plannedLayer(TenonPlan plan, const char* layer) {
  return deref(plan, "plan").layerNamed(textOf(layer, "layer"));
}

// The traffic is added up rank by rank, so the number of ranks bounds the time of the call.
constexpr TenonInt kMostCounted = 65536;

template <class T, class V>
void giveNumber(T* address, V value) {
  if (address)
    *address = value;
}

} // namespace

TenonErrorCode TenonPlanCreateNamed(const char* nameOrPath, TenonInt batch,
                                    TenonPlan* plan) noexcept {
  return guard(__func__, [&] {
    required(plan, "plan");
    give(plan, makeRef<NetworkPlan>(readNetworkSource(textOf(nameOrPath, "nameOrPath")), batch));
  });
}

TenonErrorCode TenonPlanSetMachine(TenonPlan plan, TenonMachine machine) noexcept {
  return guard(__func__, [&] {
    NetworkPlan& changed = deref(plan, "plan");
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

TenonErrorCode TenonPlanGetNumber(TenonPlan plan, const char* layer, const char* name,
                                  double* value) noexcept {
  return guard(__func__, [&] {
    const FoundPlan& found = deref(plan, "plan").found();
    const std::string which = textOf(name, "name");
    required(value, "value") = layer ? numberNamed(kLayerNumbers, which, plannedLayer(plan, layer))
                                     : numberNamed(kPlanNumbers, which, found);
  });
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

TenonErrorCode TenonPlanGetText(TenonPlan plan, const char* layer, const char* name, char text[],
                                TenonInt length, TenonInt* needed) noexcept {
  return guard(__func__, [&] {
    const PlannedLayer& planned = plannedLayer(plan, layer);
    const std::string which = textOf(name, "name");
    if (which != "word" && which != "runner_up")
      throw Error(TENON_ERR_ARG,
                  fmt::format("there is no text '{}'; use word or runner_up", which));
    copyText(which == "word" ? planned.letters : planned.runnerUp, {text, length, needed}, "text");
  });
}

TenonErrorCode TenonPlanGetPublishedSeconds(TenonPlan plan, const char* equation, TenonInt rows,
                                            TenonInt columns, TenonInt convRows,
                                            TenonInt convColumns, double* seconds) noexcept {
  return guard(__func__, [&] {
    const NetworkPlan& asked = deref(plan, "plan");
    required(seconds, "seconds") = asked.publishedSeconds(textOf(equation, "equation"),
                                                          {rows, columns}, {convRows, convColumns});
  });
}

TenonErrorCode TenonPlanCountConversion(const char* from, const char* to, TenonInt processes,
                                        int ndim, const TenonInt shape[], TenonInt* messages,
                                        TenonInt* elements) noexcept {
  return guard(__func__, [&] {
    if (processes < 1 || processes > kMostCounted)
      throw Error(TENON_ERR_ARG, fmt::format("the number of processes is {}; it must be in 1 to {}",
                                             processes, kMostCounted));
    // One axis: conversions between properties are defined axis by axis.
    const GridPtr line = Grid::make({static_cast<int>(processes)});
    const auto layout = [&](const char* property, const char* name) {
      return Layout({.shape = listOf(shape, ndim, "shape"),
                     .grid = line,
                     .properties = parseProperties(textOf(property, name))});
    };
    const Traffic sent = conversionTraffic(layout(from, "from"), layout(to, "to"));
    giveNumber(messages, sent.messages);
    giveNumber(elements, sent.elements);
  });
}

TenonErrorCode TenonPlanDestroy(TenonPlan* plan) noexcept {
  return guard(__func__, [&] { destroy(plan, "plan"); });
}
