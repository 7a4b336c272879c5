// SPDX-License-Identifier: BSD-2-Clause
#include "linop/reduction_choice.hpp"

#include "comm/job_machine.hpp"
#include "reduction/execution.hpp"
#include "reduction/simulation.hpp"
#include "reduction/synthesis.hpp"
#include "sys/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <optional>

namespace tenon {

namespace {

struct Cheapest {
  Program program;
  double seconds = std::numeric_limits<double>::infinity();
};

template <class SecondsOf>
Cheapest cheapestOf(const Hierarchy& hierarchy, SecondsOf secondsOf) {
  const int levels = static_cast<int>(hierarchy.size());
  const auto programs = reductionPrograms(levels, levels > 3 ? 3 : 5);
  Cheapest best;
  for (Index i = 0; i < programs->count(); ++i) {
    const Program program = programs->program(i);
    const double seconds = secondsOf(program);
    if (seconds < best.seconds)
      best = {program, seconds};
  }
  return best;
}

void takeIfCheaper(ReductionChoice& choice, const Cheapest& best, const std::string& other,
                   double otherSeconds) {
  choice.taken = best.seconds < kWorthwhile * otherSeconds;
  choice.plan.program = best.program;
  choice.why = fmt::format(
      "-tenon_reduction auto: {}; the best program is predicted at {:.3g} us, {} at {:.3g} us",
      choice.taken ? "by a program" : "as mpi", 1e6 * best.seconds, other, 1e6 * otherSeconds);
}

void chooseByRates(ReductionChoice& choice, Index cells, Index cellBytes, double routeSeconds) {
  const Hierarchy& hierarchy = choice.plan.hierarchy;
  const LinkRates& rates = choice.plan.rates;
  const auto secondsOf = [&](const Program& program) {
    return priceOfSteps(reductionSteps(program, hierarchy, cells, cells * cellBytes, rates),
                        cellBytes, rates);
  };
  takeIfCheaper(choice, cheapestOf(hierarchy, secondsOf), "the route", routeSeconds);
}

void chooseBySimulation(ReductionChoice& choice, const Machine& machine, const Layout& domain,
                        const std::vector<int>& axes, Index bytes) {
  Simulation simulation(machine, choice.plan.hierarchy,
                        reductionGroupsOf(domain.mesh(), axes, choice.plan.order),
                        ReductionAlgorithm::Ring, static_cast<double>(bytes));
  const auto secondsOf = [&](const Program& program) { return simulation.seconds(program); };
  takeIfCheaper(choice, cheapestOf(choice.plan.hierarchy, secondsOf),
                fmt::format("one AllReduce on machine '{}'", machine.name()),
                simulation.seconds({Instruction{}}));
}

// The first of several that reduces over so many levels. One alone is checked where it is used.
const Program& fittingProgram(const std::vector<Program>& programs, const Hierarchy& hierarchy) {
  std::string reasons;
  for (const Program& program : programs) {
    if (programs.size() == 1)
      return program;
    try {
      checkReduces(program, static_cast<int>(hierarchy.size()));
      return program;
    } catch (const Error& error) {
      reasons += fmt::format("; '{}': {}", describe(program), error.text());
    }
  }
  throw Error(
      TENON_ERR_ARG,
      fmt::format("none of the {} programs of -tenon_reduction reduces over the hierarchy [{}]{}",
                  programs.size(), fmt::join(hierarchy, ","), reasons));
}

// The levels on which the ranks are numbered.
Hierarchy levelsOf(const ReductionPolicy& policy, const std::optional<Machine>& machine,
                   int ranks) {
  if (!machine)
    return policy.machine.empty() ? Hierarchy{ranks} : policy.machine;
  if (!policy.machine.empty() && policy.machine != machine->sizes())
    throw Error(TENON_ERR_ARG,
                fmt::format("-tenon_machine_levels is {}, but machine '{}' of -tenon_machine_file "
                            "has the levels {}; set only one of them",
                            fmt::join(policy.machine, ","), machine->name(),
                            fmt::join(machine->sizes(), ",")));
  return machine->sizes();
}

} // namespace

ReductionChoice chooseReduction(const ReductionPolicy& policy, const Layout& domain,
                                const std::vector<int>& axes, int ranks, Index cellBytes,
                                double routeSeconds, const LinkRates& rates) {
  ReductionChoice choice;
  choice.plan.rates = rates;
  std::optional<Machine> machine;
  if (!policy.machineFile.empty())
    machine = machineForRanks(policy.machineFile, ranks);
  if (policy.automatic && !machine && rates == LinkRates{}) {
    choice.why = "-tenon_reduction auto: as mpi, since the machine is not described (pass "
                 "-tenon_machine_file or -tenon_machine_latency, -tenon_machine_bandwidth, ...)";
    return choice;
  }
  const Hierarchy levels = levelsOf(policy, machine, ranks);
  try {
    choice.plan.hierarchy = reductionHierarchy(domain.mesh(), axes, levels);
    choice.plan.order = memberOrder(domain.mesh(), axes, levels);
  } catch (const Error& error) {
    if (!policy.automatic)
      throw;
    choice.why = "-tenon_reduction auto: as mpi, since " + error.text();
    return choice;
  }
  if (choice.plan.hierarchy.empty())
    return choice;
  const Index cells = mostCells(domain);
  if (machine) {
    chooseBySimulation(choice, *machine, domain, axes, cells * cellBytes);
  } else if (policy.automatic) {
    chooseByRates(choice, cells, cellBytes, routeSeconds);
  } else if (!policy.programs.empty()) {
    choice.plan.program = fittingProgram(policy.programs, choice.plan.hierarchy);
    choice.taken = true;
  }
  return choice;
}

} // namespace tenon
