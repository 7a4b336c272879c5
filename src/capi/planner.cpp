// SPDX-License-Identifier: BSD-2-Clause
// The calls of TenonPlanner, for the command and for tests: plans of networks by name, by Tenon's
// prices or the papers'. All are local, and none needs MPI.
#include "planner/papers/named_plan.hpp"

#include "capi/arguments.hpp"
#include "capi/plan_numbers.hpp"
#include "comm/machine_object.hpp"
#include "planner/prices/word.hpp"
#include "sys/errors/guard.hpp"

#include <tenon/ext/planner.h>

#include <fmt/format.h>

using namespace tenon;

namespace {

// A text of a planned layer by its name.
const std::string& textNamed(const PlannedLayer& layer, const std::string& name) {
  if (name == "name")
    return layer.name;
  if (name == "word")
    return layer.letters;
  if (name == "runner_up")
    return layer.runnerUp;
  throw Error(TENON_ERR_ARG,
              fmt::format("there is no text '{}'; use one of name, word, runner_up", name));
}

// The traffic is added up rank by rank, so the number of ranks bounds the time of the call.
constexpr TenonInt kMostCounted = 65536;

template <class T, class V>
void giveNumber(T* address, V value) {
  if (address)
    *address = value;
}

} // namespace

TenonErrorCode TenonPlannerCreate(const char* nameOrPath, TenonInt batch,
                                  TenonPlanner* planner) noexcept {
  return guard(__func__, [&] {
    required(planner, "planner");
    give(planner, makeRef<NamedPlan>(readNetworkSource(textOf(nameOrPath, "nameOrPath")), batch));
  });
}

TenonErrorCode TenonPlannerSetMachine(TenonPlanner planner, TenonMachine machine) noexcept {
  return guard(__func__, [&] {
    NamedPlan& changed = deref(planner, "planner");
    changed.setMachine(deref(machine, "machine").machine());
  });
}

TenonErrorCode TenonPlannerFix(TenonPlanner planner, const char* layer, const char* word) noexcept {
  return guard(__func__, [&] {
    deref(planner, "planner").fix(textOf(layer, "layer"), textOf(word, "word"));
  });
}

TenonErrorCode TenonPlannerSearch(TenonPlanner planner) noexcept {
  return guard(__func__, [&] { deref(planner, "planner").search(); });
}

TenonErrorCode TenonPlannerGetNumber(TenonPlanner planner, const char* layer, const char* name,
                                     double* value) noexcept {
  return guard(__func__, [&] {
    required(value, "value") = plannedNumber(deref(planner, "planner"), layer, name);
  });
}

TenonErrorCode TenonPlannerGetText(TenonPlanner planner, TenonInt index, const char* name,
                                   char text[], TenonInt length, TenonInt* needed) noexcept {
  return guard(__func__, [&] {
    const PlannedLayer& layer = deref(planner, "planner").layer(index);
    copyText(textNamed(layer, textOf(name, "name")), {text, length, needed}, "text");
  });
}

TenonErrorCode TenonPlannerGetPublishedSeconds(TenonPlanner planner, const char* equation,
                                               TenonInt rows, TenonInt columns, TenonInt convRows,
                                               TenonInt convColumns, double* seconds) noexcept {
  return guard(__func__, [&] {
    const NamedPlan& asked = deref(planner, "planner");
    required(seconds, "seconds") = asked.publishedSeconds(textOf(equation, "equation"),
                                                          {rows, columns}, {convRows, convColumns});
  });
}

TenonErrorCode TenonPlannerCountConversion(const char* from, const char* to, TenonInt processes,
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

TenonErrorCode TenonPlannerDestroy(TenonPlanner* planner) noexcept {
  return guard(__func__, [&] { destroy(planner, "planner"); });
}
