// SPDX-License-Identifier: BSD-2-Clause
// The machine for which `tenon plan` predicts times, from options.
#pragma once

#include "tools/plan/system.hpp"
#include "tools/program.hpp"

#include <optional>

namespace tenon::tools {

// -machine, -algorithm and -bytes, which two commands have.
extern const ProgramOption kMachineOption, kAlgorithmOption, kBytesOption;

struct PlannedMachine {
  Machine machine;
  std::string name;
  Sizes system; // the sizes of its levels
  std::string algorithm;
  TenonInt bytes;

  // The machine of the option -machine, with `nodes` nodes; 0: those of its description.
  static PlannedMachine fromOptions(TenonInt nodes);
  // The machine for a system, with its number of nodes; none without -machine.
  static std::optional<PlannedMachine> forSystem(const Sizes& system);

  // The machine of the option -machine for a system, for sums with their own sizes.
  static PlannedMachine forSums(const Sizes& system);

  // The seconds of each program.
  std::vector<double> predict(const ReductionPrograms& programs) const;
  // For each placement of a list, the seconds of all its reductions, by programs of at most `steps`
  // steps.
  std::vector<double> predict(const PlacementList& list, TenonInt placements, int steps) const;
};

} // namespace tenon::tools
