// SPDX-License-Identifier: BSD-2-Clause
// The calls of TenonPlan that need no processes: what is planned and for which machine, what is
// fixed, the search, and what it found. All are local, also for a plan of layers: ranks that ask
// the same find the same.
#include "planner/network_plan.hpp"

#include "capi/arguments.hpp"
#include "comm/machine_object.hpp"
#include "geometry/given_grid.hpp"
#include "plan/layer_plan.hpp"
#include "planner/prices/word.hpp"
#include "sys/errors/guard.hpp"
#include "sys/text/text.hpp"

#include <tenon/plan.h>

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

double secondsNamed(const FoundPlan& found, const std::string& which) {
  if (which == "plan")
    return found.seconds;
  if (which == "overlapped") {
    if (!found.overlapped)
      throw Error(TENON_ERR_STATE, "the plan was searched without overlap; set its share with "
                                   "TenonPlanSetOverlap()");
    return *found.overlapped;
  }
  if (which == "uniform")
    return baselineSeconds(found.baselines.uniform, which);
  if (which == "batch")
    return baselineSeconds(found.baselines.batch, which);
  if (which == "model")
    return baselineSeconds(found.baselines.model, which);
  if (which == "domain")
    return baselineSeconds(found.baselines.domain, which);
  throw Error(
      TENON_ERR_ARG,
      fmt::format("which is '{}'; use plan, overlapped, uniform, batch, model or domain", which));
}

const PlannedLayer& plannedLayer(TenonPlan plan, const char* layer) {
  return deref(plan, "plan").layerNamed(textOf(layer, "layer"));
}

// A layout of equal blocks on a process grid whose ranks are in row-major order. The grid is made
// only once the number of processes is known: the extents are the caller's, and their product may
// be far larger.
NetworkPlan::PinnedEnd balancedOn(const std::vector<int>& grid, const std::string& properties) {
  for (int extent : grid)
    if (extent < 1)
      throw Error(TENON_ERR_ARG,
                  fmt::format("a process grid of {} has an axis of {} processes; it must have at "
                              "least 1",
                              fmt::join(grid, "x"), extent));
  return [grid, given = parseProperties(properties)](const Shape& shape, Index processes) {
    return Layout({.shape = shape, .grid = gridWithin(grid, processes), .properties = given});
  };
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

TenonErrorCode TenonPlanSetProcesses(TenonPlan plan, TenonInt processes) noexcept {
  return guard(__func__, [&] { deref(plan, "plan").setProcesses(processes); });
}

TenonErrorCode TenonPlanSetModel(TenonPlan plan, const char* model) noexcept {
  return guard(__func__, [&] { deref(plan, "plan").setModel(textOf(model, "model")); });
}

TenonErrorCode TenonPlanSetLink(TenonPlan plan, double latency, double bandwidth) noexcept {
  return guard(__func__, [&] { deref(plan, "plan").setLink(latency, bandwidth); });
}

TenonErrorCode TenonPlanSetMachine(TenonPlan plan, TenonMachine machine) noexcept {
  return guard(__func__, [&] {
    NetworkPlan& changed = deref(plan, "plan");
    changed.setMachine(deref(machine, "machine").machine());
  });
}

TenonErrorCode TenonPlanSetInputShape(TenonPlan plan, int ndim, const TenonInt shape[]) noexcept {
  return guard(__func__, [&] { deref(plan, "plan").setInputShape(listOf(shape, ndim, "shape")); });
}

TenonErrorCode TenonPlanSetFlopRate(TenonPlan plan, double flops) noexcept {
  return guard(__func__, [&] { deref(plan, "plan").setFlops(flops); });
}

TenonErrorCode TenonPlanSetMemoryRate(TenonPlan plan, double bandwidth) noexcept {
  return guard(__func__, [&] { deref(plan, "plan").setMemoryRate(bandwidth); });
}

TenonErrorCode TenonPlanSetDataType(TenonPlan plan, TenonDataType type) noexcept {
  return guard(__func__, [&] {
    NetworkPlan& changed = deref(plan, "plan");
    checkFloating(type, "a plan");
    // Two places for one data type could contradict each other.
    if (dynamic_cast<LayerPlan*>(&changed))
      throw Error(TENON_ERR_SUPPORT, "the plan is of a network of layers, which have a data type; "
                                     "set theirs with TenonLayerSetDataType()");
    changed.setCellBytes(dataTypeSize(type));
  });
}

TenonErrorCode TenonPlanSetInputChannels(TenonPlan plan, TenonBool allowed) noexcept {
  return guard(__func__, [&] { deref(plan, "plan").setInputChannels(allowed != TENON_FALSE); });
}

TenonErrorCode TenonPlanSetMemoryLimit(TenonPlan plan, TenonInt bytes) noexcept {
  return guard(__func__, [&] { deref(plan, "plan").setMemoryLimit(bytes); });
}

TenonErrorCode TenonPlanFix(TenonPlan plan, const char* layer, const char* word) noexcept {
  return guard(__func__,
               [&] { deref(plan, "plan").fix(textOf(layer, "layer"), textOf(word, "word")); });
}

TenonErrorCode TenonPlanSetObjective(TenonPlan plan, const char* objective,
                                     TenonInt every) noexcept {
  return guard(__func__,
               [&] { deref(plan, "plan").setObjective(textOf(objective, "objective"), every); });
}

TenonErrorCode TenonPlanSetInputGrid(TenonPlan plan, int naxes, const int grid[],
                                     const char* properties) noexcept {
  return guard(__func__, [&] {
    deref(plan, "plan")
        .pinInput(balancedOn(listOf(grid, naxes, "grid"), textOf(properties, "properties")));
  });
}

TenonErrorCode TenonPlanSetOutputGrid(TenonPlan plan, int naxes, const int grid[],
                                      const char* properties) noexcept {
  return guard(__func__, [&] {
    deref(plan, "plan")
        .pinOutput(balancedOn(listOf(grid, naxes, "grid"), textOf(properties, "properties")));
  });
}

TenonErrorCode TenonPlanSetPlacement(TenonPlan plan, const char* placement) noexcept {
  return guard(__func__, [&] { deref(plan, "plan").setPlacement(textOf(placement, "placement")); });
}

TenonErrorCode TenonPlanSetFewerProcesses(TenonPlan plan, TenonBool allowed) noexcept {
  return guard(__func__, [&] { deref(plan, "plan").setFewerProcesses(allowed != TENON_FALSE); });
}

TenonErrorCode TenonPlanSetOverlap(TenonPlan plan, double share) noexcept {
  return guard(__func__, [&] { deref(plan, "plan").setOverlap(share); });
}

TenonErrorCode TenonPlanSearch(TenonPlan plan) noexcept {
  return guard(__func__, [&] { deref(plan, "plan").search(); });
}

TenonErrorCode TenonPlanGetSeconds(TenonPlan plan, const char* which, double* seconds) noexcept {
  return guard(__func__, [&] {
    const FoundPlan& found = deref(plan, "plan").found();
    required(seconds, "seconds") = secondsNamed(found, textOf(which, "which"));
  });
}

TenonErrorCode TenonPlanGetGrid(TenonPlan plan, TenonInt* processes, TenonBool* reversed) noexcept {
  return guard(__func__, [&] {
    const FoundPlan& found = deref(plan, "plan").found();
    // Whoever wants one number passes NULL for the others.
    giveNumber(processes, found.grid->size());
    giveNumber(reversed, found.spaceOutermost ? TENON_TRUE : TENON_FALSE);
  });
}

TenonErrorCode TenonPlanGetBytes(TenonPlan plan, double* bytes) noexcept {
  return guard(__func__, [&] { required(bytes, "bytes") = deref(plan, "plan").found().bytes; });
}

TenonErrorCode TenonPlanGetGap(TenonPlan plan, double* gap) noexcept {
  return guard(__func__, [&] { required(gap, "gap") = deref(plan, "plan").found().gap; });
}

TenonErrorCode TenonPlanGetSearches(TenonPlan plan, TenonInt* count) noexcept {
  return guard(__func__, [&] { required(count, "count") = deref(plan, "plan").found().rounds; });
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

TenonErrorCode TenonPlanGetChoice(TenonPlan plan, const char* layer, TenonInt* model,
                                  TenonInt* domain, TenonInt* batch) noexcept {
  return guard(__func__, [&] {
    const Parts& parts = plannedLayer(plan, layer).parts;
    giveNumber(model, parts.channels);
    giveNumber(domain, parts.space);
    giveNumber(batch, parts.batch);
  });
}

TenonErrorCode TenonPlanGetLayerBytes(TenonPlan plan, const char* layer, double* bytes) noexcept {
  return guard(__func__, [&] { required(bytes, "bytes") = plannedLayer(plan, layer).bytes; });
}

TenonErrorCode TenonPlanGetRunnerUp(TenonPlan plan, const char* layer, char word[], TenonInt length,
                                    TenonInt* needed, double* seconds) noexcept {
  return guard(__func__, [&] {
    const PlannedLayer& found = plannedLayer(plan, layer);
    copyText(found.runnerUp, {word, length, needed}, "word");
    giveNumber(seconds, found.runnerUpSeconds);
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
    giveNumber(elements, sent.cells);
  });
}

TenonErrorCode TenonPlanDestroy(TenonPlan* plan) noexcept {
  return guard(__func__, [&] { destroy(plan, "plan"); });
}
