// SPDX-License-Identifier: BSD-2-Clause
#include "reduction/plan_objects.hpp"

#include "sys/error.hpp"

#include <fmt/format.h>

namespace tenon {

const Placement& PlacementList::at(Index index) const {
  if (index < 0 || index >= count())
    throw Error(TENON_ERR_ARG, fmt::format("there is no placement {}; there are {}, counted from 0",
                                           index, count()));
  return placements_[index];
}

Instruction ReductionPrograms::step(Index index, int step) const {
  const Program program = set_->program(index);
  if (step < 0 || step >= static_cast<int>(program.size()))
    throw Error(TENON_ERR_ARG, fmt::format("program {} has no step {}; it has {}, counted from 0",
                                           index, step, program.size()));
  return program[step];
}

} // namespace tenon
