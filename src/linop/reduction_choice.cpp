// SPDX-License-Identifier: BSD-2-Clause
#include "linop/reduction_choice.hpp"

#include "reduction/synthesis.hpp"
#include "sys/error.hpp"

#include <fmt/format.h>

#include <limits>

namespace tenon {

namespace {

struct Cheapest {
  Program program;
  double seconds = std::numeric_limits<double>::infinity();
};

Cheapest cheapestOf(const Hierarchy& hierarchy, Index cells, Index cellBytes,
                    const LinkRates& rates) {
  const int levels = static_cast<int>(hierarchy.size());
  const auto programs = reductionPrograms(levels, levels > 3 ? 3 : 5);
  Cheapest best;
  for (Index i = 0; i < programs->count(); ++i) {
    const Program program = programs->program(i);
    const double seconds = priceOfSteps(
        reductionSteps(program, hierarchy, cells, cells * cellBytes, rates), cellBytes, rates);
    if (seconds < best.seconds)
      best = {program, seconds};
  }
  return best;
}

void chooseCheapest(ReductionChoice& choice, Index cells, Index cellBytes, double routeSeconds) {
  const Cheapest best = cheapestOf(choice.plan.hierarchy, cells, cellBytes, choice.plan.rates);
  choice.taken = best.seconds < kWorthwhile * routeSeconds;
  choice.plan.program = best.program;
  choice.why =
      fmt::format("-tenon_reduction auto: {}, as the best program is predicted at {:.3g} us "
                  "and the route at {:.3g} us",
                  choice.taken ? "by a program" : "as mpi", 1e6 * best.seconds, 1e6 * routeSeconds);
}

} // namespace

ReductionChoice chooseReduction(const ReductionPolicy& policy, const Layout& domain,
                                const std::vector<int>& axes, int ranks, Index cellBytes,
                                double routeSeconds, const LinkRates& rates) {
  ReductionChoice choice;
  choice.plan.rates = rates;
  if (policy.automatic && rates == LinkRates{}) {
    choice.why = "-tenon_reduction auto: as mpi, since no rates are given (-tenon_machine_latency, "
                 "-tenon_machine_bandwidth, ...)";
    return choice;
  }
  const Hierarchy machine = policy.machine.empty() ? Hierarchy{ranks} : policy.machine;
  try {
    choice.plan.hierarchy = reductionHierarchy(domain.mesh(), axes, machine);
  } catch (const Error& error) {
    if (!policy.automatic)
      throw;
    choice.why = "-tenon_reduction auto: as mpi, since " + error.text();
    return choice;
  }
  if (choice.plan.hierarchy.empty())
    return choice;
  if (policy.automatic) {
    chooseCheapest(choice, mostCells(domain), cellBytes, routeSeconds);
  } else if (policy.program) {
    choice.plan.program = *policy.program;
    choice.taken = true;
  }
  return choice;
}

} // namespace tenon
