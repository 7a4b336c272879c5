// SPDX-License-Identifier: BSD-2-Clause
// `tenon plan reductions`: a program is a sequence of collectives on groups of processes, such as
// ReduceScatter, AllReduce, AllGather, which together reduce over some axes of a job. For each
// placement of the job on a system, lists the number of programs by size, and the fastest program
// on a machine. Programs are sorted by size; the first is the single AllReduce, with which the
// fastest is compared. planReductions() is declared in commands.hpp.
#include "tools/plan/commands.hpp"

#include "tools/plan/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace tenon::tools {

const std::vector<ProgramOption> kReductionOptions{
    {"system", TENON_OPTION_STRING, "", "level sizes of the system, outermost first: 4,16"},
    {"axes", TENON_OPTION_STRING, "", "number of processes along each grid axis: 8,2,4"},
    {"reduce", TENON_OPTION_STRING, "", "axes to reduce over, from 0: 0,2"},
    {"size", TENON_OPTION_INT, "5", "maximum number of instructions per program"},
    kMachineOption,
    kAlgorithmOption,
    kBytesOption,
    {"list", TENON_OPTION_FLAG, "false", "print every program"},
    {"json", TENON_OPTION_FLAG, "false", "print JSON"},
};

namespace {

// The options of the command.
struct Request {
  std::vector<int> reduce; // axes to reduce over
  int size;                // maximum number of instructions of a program
  bool isList, isJson;
};

Request requestFromOptions() {
  return {reducedAxesOption(), programSizeOption(), flagOption("list"), flagOption("json")};
}

// The results for one placement.
struct Reduction {
  std::vector<Sizes> matrix;
  Sizes hierarchy;
  TenonInt programs = 0;
  Sizes bySize;                   // numbers of programs with 1, 2, ... instructions
  std::vector<std::string> texts; // only with -list
  bool isPredicted = false;       // only with -machine
  std::string best;               // "" if there is nothing to reduce
  double predicted = 0, allReduce = 0;
};

// Adds the predicted times. The best program is the fastest; among equals the first, which is the
// shortest.
void predict(const PlannedMachine& machine, const ReductionPrograms& programs, Reduction& found) {
  const std::vector<double> seconds = machine.predict(programs);
  found.isPredicted = true;
  // If a placement puts an axis within one device there is nothing to reduce.
  if (seconds.empty())
    return;
  const auto least = std::min_element(seconds.begin(), seconds.end());
  found.best = programText(programs, least - seconds.begin());
  found.predicted = *least;
  found.allReduce = seconds.front();
}

Reduction reductionOf(const PlannedPlacements& placements, TenonInt index, const Request& request,
                      const std::optional<PlannedMachine>& machine) {
  Reduction found;
  found.matrix = placements.matrix(index);
  found.hierarchy.resize(placements.system.size());
  const int axes = static_cast<int>(request.reduce.size());
  int levels = 0;
  require(TenonPlacementListGetHierarchy(placements.list, index, axes, request.reduce.data(),
                                         &levels, found.hierarchy.data()));
  found.hierarchy.resize(levels);
  ReductionPrograms programs;
  require(TenonReductionProgramsCreate(placements.list, index, axes, request.reduce.data(),
                                       request.size, programs.out()));
  require(TenonReductionProgramsGetCount(programs, &found.programs));
  found.bySize.assign(static_cast<std::size_t>(request.size), 0);
  for (TenonInt i = 0; i < found.programs; ++i) {
    int steps = 0;
    require(TenonReductionProgramsGetSize(programs, i, &steps));
    ++found.bySize[static_cast<std::size_t>(steps) - 1];
  }
  for (TenonInt i = 0; request.isList && i < found.programs; ++i)
    found.texts.push_back(programText(programs, i));
  if (machine)
    predict(*machine, programs, found);
  return found;
}

std::string jsonOf(const Reduction& reduction, const Request& request) {
  std::string json =
      fmt::format("{{\"matrix\": {}, \"hierarchy\": {}, \"programs\": {}, \"by_size\": {}",
                  textOf(reduction.matrix), textOf(reduction.hierarchy), reduction.programs,
                  textOf(reduction.bySize));
  if (request.isList) {
    std::string list;
    for (const std::string& text : reduction.texts)
      list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", text);
    json += fmt::format(", \"list\": [{}]", list);
  }
  if (reduction.isPredicted)
    json += fmt::format(", \"best\": {}, \"predicted_s\": {}, \"allreduce_s\": {}",
                        quoted(reduction.best), reduction.predicted, reduction.allReduce);
  return json + "}";
}

void printJson(TenonInt total, const std::vector<Reduction>& all, const Request& request) {
  fmt::print("{{\"total\": {}, \"placements\": [", total);
  for (std::size_t i = 0; i < all.size(); ++i)
    fmt::print("{}{}", i > 0 ? ", " : "", jsonOf(all[i], request));
  fmt::print("]}}\n");
}

void printText(TenonInt total, const std::vector<Reduction>& all, const Request& request) {
  fmt::print("{} of up to {} on {}\n", counted(total, "program"),
             counted(request.size, "instruction"),
             counted(static_cast<TenonInt>(all.size()), "placement"));
  for (const Reduction& reduction : all) {
    fmt::print("{} reduces on hierarchy {}: ", textOf(reduction.matrix),
               textOf(reduction.hierarchy));
    if (reduction.hierarchy.empty())
      fmt::print("nothing to do\n");
    else
      fmt::print("{}, by size {}\n", counted(reduction.programs, "program"),
                 textOf(reduction.bySize));
    if (!reduction.best.empty())
      fmt::print("  best {} s, AllReduce {} s: {}\n", reduction.predicted, reduction.allReduce,
                 reduction.best);
    for (const std::string& text : reduction.texts)
      fmt::print("  {}\n", text);
  }
}

} // namespace

int planReductions() {
  const Request request = requestFromOptions();
  const auto placements = PlannedPlacements::fromOptions([&] {
    if (request.isJson)
      printJson(0, {}, request);
  });
  const auto machine = PlannedMachine::forSystem(placements.system);
  std::vector<Reduction> all;
  TenonInt total = 0;
  for (TenonInt i = 0; i < placements.count(); ++i) {
    all.push_back(reductionOf(placements, i, request, machine));
    // The sum over placements can overflow although each number does not.
    if (__builtin_add_overflow(total, all.back().programs, &total))
      throw std::runtime_error("there are more programs than can be counted; lower -size");
  }
  (request.isJson ? printJson : printText)(total, all, request);
  return 0;
}

} // namespace tenon::tools
