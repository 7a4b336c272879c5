// SPDX-License-Identifier: BSD-2-Clause
// The machine that `tenon plan` predicts times for, from options.
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

  // The machine that -machine names, with so many nodes, or with 0 those of its description.
  static PlannedMachine fromOptions(TenonInt nodes);
  // The machine for a system with its own number of nodes; none without -machine.
  static std::optional<PlannedMachine> forSystem(const Sizes& system);

  // The machine that -machine names for a system, for sums that have their own bytes.
  static PlannedMachine forSums(const Sizes& system);

  // The seconds that each program takes.
  std::vector<double> predict(const ReductionPrograms& programs) const;
  // The seconds that all reductions of a list take on each of its placements, by programs of at
  // most so many steps.
  std::vector<double> predict(const PlacementList& list, TenonInt placements, int steps) const;
};

} // namespace tenon::tools
