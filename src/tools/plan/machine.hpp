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

  // What -machine names, with so many nodes; 0 for those of its description.
  static PlannedMachine fromOptions(TenonInt nodes);
  // The same for a system with its own number of nodes; none without -machine.
  static std::optional<PlannedMachine> forSystem(const Sizes& system);

  // Seconds by program.
  std::vector<double> predict(const ReductionPrograms& programs) const;
};

} // namespace tenon::tools
