// SPDX-License-Identifier: BSD-2-Clause
// The machine for which `tenon plan` predicts times, from options.
#pragma once

#include "tools/plan/system.hpp"
#include "tools/program.hpp"

#include <optional>

namespace tenon::tools {

// The options -machine, -algorithm and -bytes, which several commands have.
extern const ProgramOption kMachineOption, kAlgorithmOption, kBytesOption;

// A machine description, and the remaining arguments of a prediction: the algorithm of collectives
// and the bytes to reduce.
struct PlannedMachine {
  Machine machine;
  std::string name;
  Sizes system;          // sizes of the machine's levels, in the order of its description
  std::string algorithm; // direct, ring or tree, the value of -algorithm
  TenonInt bytes;        // to reduce, on each device

  // The machine of the option -machine, with `nodes` nodes; 0: as many as its description says.
  static PlannedMachine fromOptions(TenonInt nodes);
  // The machine of the option -machine, with as many nodes as the system; none without -machine.
  static std::optional<PlannedMachine> forSystem(const Sizes& system);

  // The same for several sums, each with its own number of bytes (option -reductions), so -bytes is
  // not read. An error without -machine.
  static PlannedMachine forSums(const Sizes& system);

  // The seconds of each program.
  std::vector<double> predict(const ReductionPrograms& programs) const;
  // For each placement of a list, the seconds of all its reductions, by programs of at most `steps`
  // steps.
  std::vector<double> predict(const PlacementList& list, TenonInt placements, int steps) const;
};

} // namespace tenon::tools
