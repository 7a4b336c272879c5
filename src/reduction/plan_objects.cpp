// SPDX-License-Identifier: BSD-2-Clause
// Checks the numbers by which callers ask for placements and steps, and adds up reductions.
// Programs are not stored: each call finds its program by number in the graph that all programs
// share.
#include "reduction/plan_objects.hpp"

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
  placements_.front().reductionHierarchy(axes); // throws where it knows no such axes
  if (!(bytes >= 0) || !std::isfinite(bytes))
    throw Error(TENON_ERR_ARG, fmt::format("bytes is {}; it must be finite and at least 0", bytes));
  reductions_.push_back({std::move(axes), bytes});
}

std::vector<double> PlacementList::seconds(const Machine& machine, ReductionAlgorithm algorithm,
                                           int sizeLimit) const {
  if (reductions_.empty())
    throw Error(TENON_ERR_STATE, "there are no reductions to choose a placement for; add them with "
                                 "TenonPlacementListAddReduction()");
  std::vector<double> all;
  for (const Placement& placement : placements_) {
    double seconds = 0;
    for (const auto& [axes, bytes] : reductions_) {
      const ReductionPrograms programs(placement, axes, sizeLimit);
      Simulation simulation(machine, placement, axes, algorithm, bytes);
      double least = std::numeric_limits<double>::infinity();
      for (Index i = 0; i < programs.set().count(); ++i)
        least = std::min(least, simulation.seconds(programs.set().program(i)));
      // Within one device there is nothing to sum, and no program.
      seconds += programs.set().count() > 0 ? least : 0;
    }
    all.push_back(seconds);
  }
  return all;
}

Instruction ReductionPrograms::step(Index index, int step) const {
  const Program program = set_->program(index);
  if (step < 0 || step >= static_cast<int>(program.size()))
    throw Error(
        TENON_ERR_ARG,
        fmt::format("step {1} of program {0} is out of range; it has {2} steps, numbered from 0",
                    index, step, program.size()));
  return program[step];
}

} // namespace tenon
