// SPDX-License-Identifier: BSD-2-Clause
// PlacementList and ReductionPrograms (plan_objects.hpp): checks the numbers of placements and
// steps that users pass, and computes the time of each placement: the sum over its reductions of
// the time of the fastest program. Programs are not stored as a list: ProgramSet (synthesis.hpp)
// finds a program by its number in a graph.
#include "placement/plan_objects.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tenon {

const Placement& PlacementList::at(Index index) const {
  if (index < 0 || index >= count())
    throw Error(
        TENON_ERR_ARG,
        fmt::format("placement {} is out of range; there are {}, numbered from 0", index, count()));
  return placements_[index];
}

void PlacementList::addReduction(std::vector<int> axes, double bytes) {
  placements_.front().reductionHierarchy(axes); // throws for invalid axes
  if (!(bytes >= 0) || !std::isfinite(bytes))
    throw Error(TENON_ERR_ARG, fmt::format("bytes is {}; it must be finite and at least 0", bytes));
  reductions_.push_back({std::move(axes), bytes});
}

std::vector<double> PlacementList::seconds(const Machine& machine, ReductionAlgorithm algorithm,
                                           int sizeLimit) const {
  if (reductions_.empty())
    throw Error(TENON_ERR_STATE, "there are no reductions to choose a placement for; add them with "
                                 "TenonPlacementListAddReduction()");
  std::vector<double> totals;
  for (const Placement& placement : placements_) {
    double seconds = 0;
    for (const auto& [axes, bytes] : reductions_) {
      const ReductionPrograms programs(placement, axes, sizeLimit);
      Simulation simulation(machine, placement, axes, algorithm, bytes);
      // All programs are simulated, because the fastest depends on the placement.
      double fastest = std::numeric_limits<double>::infinity();
      for (Index i = 0; i < programs.set().count(); ++i)
        fastest = std::min(fastest, simulation.seconds(programs.set().program(i)));
      // A reduction within one device has no program.
      seconds += programs.set().count() > 0 ? fastest : 0;
    }
    totals.push_back(seconds);
  }
  return totals;
}

Instruction ReductionPrograms::step(Index program, int step) const {
  const Program steps = set_->program(program);
  if (step < 0 || step >= static_cast<int>(steps.size()))
    throw Error(
        TENON_ERR_ARG,
        fmt::format("step {1} of program {0} is out of range; it has {2} steps, numbered from 0",
                    program, step, steps.size()));
  return steps[step];
}

} // namespace tenon
