// SPDX-License-Identifier: BSD-2-Clause
// A table of functions by name for plans, and one for their layers. A number that a plan does not
// have, such as that of a baseline which is not possible, is an error with a code of its own, which
// a program can expect.
#include "capi/plan_numbers.hpp"

#include "capi/arguments.hpp"
#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

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
    {"layers", [](const FoundPlan& p) { return static_cast<double>(p.layers.size()); }},
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

} // namespace

double plannedNumber(const NetworkPlan& plan, const char* layer, const char* name) {
  const FoundPlan& found = plan.found();
  const std::string which = textOf(name, "name");
  return layer ? numberNamed(kLayerNumbers, which, plan.layerNamed(layer))
               : numberNamed(kPlanNumbers, which, found);
}

} // namespace tenon
