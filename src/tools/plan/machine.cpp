// SPDX-License-Identifier: BSD-2-Clause
// Creates the machine for which times are predicted, from options and machine files. A machine file
// has a number of nodes; if the user specifies a system (sizes of levels, such as 4,16) with as
// many levels as the machine, the system's number of nodes replaces it. If the levels do not match,
// the description is used unchanged, and the library reports the difference when it predicts.
#include "tools/plan/machine.hpp"

#include <fmt/format.h>

namespace tenon::tools {

constinit const ProgramOption kMachineOption{
    "machine", TENON_OPTION_STRING, "",
    "machine whose links give times: a100x16, ..., or a JSON file"};
constinit const ProgramOption kAlgorithmOption{
    "algorithm", TENON_OPTION_STRING, "direct",
    "how steps communicate: direct (as conversions run them), ring or tree (AllReduce of other "
    "libraries)"};
constinit const ProgramOption kBytesOption{"bytes", TENON_OPTION_INT, "0",
                                           "bytes to reduce per device"};

namespace {

// Reads the description `name`, with `nodes` nodes, or with its own number of nodes if that is 0.
Machine machineOf(const std::string& name, TenonInt nodes) {
  Machine machine;
  require(TenonMachineCreateFromFile(name.c_str(), nodes, machine.out()));
  return machine;
}

// The sizes of the levels of a machine, outermost first, such as 4 nodes of 16 devices: 4,16. Sets
// *nodeLevel to the index of the level "node", if there is one and the pointer is not null.
Sizes levelsOf(const Machine& machine, int* nodeLevel) {
  int levels = 0;
  require(TenonMachineGetCounts(machine, &levels, nullptr, nullptr));
  Sizes sizes(levels);
  for (int level = 0; level < levels; ++level) {
    const std::string name = textFrom([&](char* text, TenonInt length, TenonInt* needed) {
      return TenonMachineGetLevel(machine, level, text, length, needed, &sizes[level]);
    });
    // The level of this name is the one whose size can be replaced.
    if (nodeLevel && name == "node")
      *nodeLevel = level;
  }
  return sizes;
}

TenonReductionAlgorithm algorithmOf(const std::string& name) {
  if (name == "direct")
    return TENON_REDUCTION_DIRECT;
  if (name == "ring")
    return TENON_REDUCTION_RING;
  if (name == "tree")
    return TENON_REDUCTION_TREE;
  throw std::runtime_error(fmt::format("-algorithm is {}; it must be direct, ring or tree", name));
}

PlannedMachine readPlannedMachine(const std::string& name, TenonInt nodes, TenonInt bytes) {
  PlannedMachine result;
  result.name = name;
  result.machine = machineOf(name, nodes);
  result.system = levelsOf(result.machine, nullptr);
  result.algorithm = textOption("algorithm");
  algorithmOf(result.algorithm); // throws if the name is unknown
  result.bytes = bytes;
  if (result.bytes < 1)
    throw std::runtime_error(
        fmt::format("-bytes is {}; pass the number of bytes per device, at least 1", result.bytes));
  return result;
}

// Reads a machine with the system's number of nodes, if the levels match.
PlannedMachine resized(const std::string& name, const Sizes& system, TenonInt bytes) {
  int node = -1;
  const Sizes described = levelsOf(machineOf(name, 0), &node);
  const bool mayResize = node >= 0 && described.size() == system.size() && system[node] > 0;
  return readPlannedMachine(name, mayResize ? system[node] : 0, bytes);
}

} // namespace

PlannedMachine PlannedMachine::fromOptions(TenonInt nodes) {
  const std::string name = textOption("machine");
  if (name.empty())
    throw std::runtime_error("-machine is missing; pass a name such as a100x16, or a JSON file");
  return readPlannedMachine(name, nodes, intOption("bytes"));
}

std::optional<PlannedMachine> PlannedMachine::forSystem(const Sizes& system) {
  const std::string name = textOption("machine");
  if (name.empty()) {
    // Without a machine there are no times, and bytes would be ignored.
    if (intOption("bytes") != 0)
      throw std::runtime_error("-bytes needs -machine");
    return std::nullopt;
  }
  return resized(name, system, intOption("bytes"));
}

PlannedMachine PlannedMachine::forSums(const Sizes& system) {
  const std::string name = textOption("machine");
  if (name.empty())
    throw std::runtime_error("-reductions needs -machine, whose links give the times");
  // Each sum has its own number of bytes; 1 only passes the check of readPlannedMachine().
  return resized(name, system, /*bytes=*/1);
}

std::vector<double> PlannedMachine::predict(const PlacementList& list, TenonInt placements,
                                            int steps) const {
  std::vector<double> seconds(static_cast<std::size_t>(placements));
  TenonInt best = 0;
  require(TenonPlacementListPredict(list, machine, algorithmOf(algorithm), steps, seconds.data(),
                                    &best));
  return seconds;
}

std::vector<double> PlannedMachine::predict(const ReductionPrograms& programs) const {
  TenonInt count = 0;
  require(TenonReductionProgramsGetCount(programs, &count));
  // If nothing has to be reduced there is no program.
  std::vector<double> seconds(count);
  if (count > 0)
    require(TenonReductionProgramsPredict(programs, machine, algorithmOf(algorithm),
                                          static_cast<double>(bytes), seconds.data()));
  return seconds;
}

} // namespace tenon::tools
