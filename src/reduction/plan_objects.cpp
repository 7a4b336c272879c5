// SPDX-License-Identifier: BSD-2-Clause
// Checks the numbers by which callers ask for placements and steps. Programs are not stored: each
// call finds its program by number in the graph that all programs share.
#include "reduction/plan_objects.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>

namespace tenon {

const Placement& PlacementList::at(Index index) const {
  if (index < 0 || index >= count())
    throw Error(
        TENON_ERR_ARG,
        fmt::format("placement {} is out of range; there are {}, numbered from 0", index, count()));
  return placements_[index];
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
