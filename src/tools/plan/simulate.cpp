// SPDX-License-Identifier: BSD-2-Clause
// `tenon plan simulate`: predicts the time of every reduction program (a sequence of collectives)
// on every placement of a job's axes on the levels of a machine, and prints one list of all,
// fastest first. Programs with equal times are listed by size and then by placement, which makes
// the list reproducible. planSimulate() is declared in commands.hpp.
#include "tools/plan/commands.hpp"

#include "sys/text/view.hpp"
#include "tools/plan/figure.hpp"
#include "tools/plan/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace tenon::tools {

const std::vector<ProgramOption> kSimulateOptions{
    kMachineOption,
    {"nodes", TENON_OPTION_INT, "0", "number of nodes; 0: as in the machine description"},
    {"axes", TENON_OPTION_STRING, "", "number of processes along each grid axis: 4,16"},
    {"reduce", TENON_OPTION_STRING, "", "axes to reduce over, from 0: 0"},
    kAlgorithmOption,
    kBytesOption,
    {"size", TENON_OPTION_INT, "5", "maximum number of instructions per program"},
    {"chart", TENON_OPTION_STRING, "", "SVG file for a chart of the predictions"},
    {"json", TENON_OPTION_FLAG, "false", "print JSON"},
};

namespace {

// The options of the command.
struct SimulationRequest {
  PlannedMachine machine;
  std::vector<int> reduce; // axes to reduce over
  int size;                // maximum number of instructions of a program
  bool isJson;
  std::string chart;
};

// A program on a placement, with its predicted time and that of the placement's single AllReduce.
struct Timed {
  TenonInt placement, program;
  double seconds, allReduce;
  std::string text;
};

struct Simulated {
  std::vector<std::vector<Sizes>> matrices;
  std::vector<Timed> programs; // by time, then size, then placement
};

SimulationRequest simulationFromOptions() {
  // All options are checked before the search for programs, which can take long.
  return {PlannedMachine::fromOptions(intOption("nodes")), reducedAxesOption(), programSizeOption(),
          flagOption("json"), textOption("chart")};
}

Simulated simulate(const PlannedPlacements& placements, const SimulationRequest& request) {
  Simulated result;
  for (TenonInt i = 0; i < placements.count(); ++i) {
    result.matrices.push_back(placements.matrix(i));
    ReductionPrograms programs;
    require(TenonReductionProgramsCreate(placements.list, i,
                                         static_cast<int>(request.reduce.size()),
                                         request.reduce.data(), request.size, programs.out()));
    const std::vector<double> seconds = request.machine.predict(programs);
    for (std::size_t p = 0; p < seconds.size(); ++p)
      // The first program of a placement is its single AllReduce, the reference of the speed-up.
      result.programs.push_back({.placement = i,
                                 .program = static_cast<TenonInt>(p),
                                 .seconds = seconds[p],
                                 .allReduce = seconds[0],
                                 .text = programText(programs, static_cast<TenonInt>(p))});
  }
  std::sort(result.programs.begin(), result.programs.end(), [](const Timed& a, const Timed& b) {
    return std::tie(a.seconds, a.program, a.placement) <
           std::tie(b.seconds, b.program, b.placement);
  });
  return result;
}

// The heading of the table and of the chart.
std::string titleOf(const PlannedPlacements& placements, const SimulationRequest& request) {
  Sizes reduced(request.reduce.begin(), request.reduce.end());
  return fmt::format("{} {}: {} per device, axes {} reduced over {}, {}", request.machine.name,
                     textOf(request.machine.system), tenon::sizeText(request.machine.bytes),
                     textOf(placements.axes), textOf(reduced), request.machine.algorithm);
}

void printRows(const PlannedPlacements& placements, const Simulated& result,
               const SimulationRequest& request) {
  fmt::print("{}\n", titleOf(placements, request));
  if (result.programs.empty()) {
    fmt::print("nothing to do\n");
    return;
  }
  fmt::print("{:>12} {:>9}  placement and program\n", "predicted s", "speed-up");
  for (const Timed& program : result.programs)
    fmt::print("{:>12.4g} {:>9.2f}  {} {}\n", program.seconds, program.allReduce / program.seconds,
               textOf(result.matrices[program.placement]), program.text);
}

void printRowsAsJson(const PlannedPlacements& placements, const Simulated& result,
                     const SimulationRequest& request) {
  Sizes reduced(request.reduce.begin(), request.reduce.end());
  fmt::print("{{\"machine\": {}, \"system\": {}, \"axes\": {}, \"reduce\": {}, \"algorithm\": "
             "\"{}\", \"bytes\": {}, \"programs\": [",
             quoted(request.machine.name), textOf(request.machine.system), textOf(placements.axes),
             textOf(reduced), request.machine.algorithm, request.machine.bytes);
  // The rows are printed one by one, since there can be many thousands.
  const char* separator = "";
  for (const Timed& program : result.programs) {
    fmt::print("{}{{\"matrix\": {}, \"program\": {}, \"predicted_s\": {}, \"allreduce_s\": {}}}",
               separator, textOf(result.matrices[program.placement]), quoted(program.text),
               program.seconds, program.allReduce);
    separator = ", ";
  }
  fmt::print("]}}\n");
}

void writeChart(const PlannedPlacements& placements, const Simulated& result,
                const SimulationRequest& request) {
  if (result.programs.empty())
    // An empty drawing would be meaningless.
    throw std::runtime_error("-chart: no reduction is needed, so there is nothing to draw");
  std::vector<std::string> series;
  for (const auto& matrix : result.matrices)
    series.push_back(textOf(matrix));
  std::vector<ChartPoint> points;
  for (const Timed& program : result.programs)
    points.push_back({program.seconds, static_cast<int>(program.placement),
                      /*isAllReduce=*/program.program == 0, program.text});
  const std::string chart = drawChart(titleOf(placements, request), series, points);
  require(TenonWriteFile(request.chart.c_str(), chart.data(), static_cast<TenonInt>(chart.size())));
}

} // namespace

int planSimulate() {
  const SimulationRequest request = simulationFromOptions();
  const auto placements = PlannedPlacements::on(request.machine.system, [] {});
  const Simulated result = simulate(placements, request);
  if (!request.chart.empty())
    writeChart(placements, result, request);
  (request.isJson ? printRowsAsJson : printRows)(placements, result, request);
  return 0;
}

} // namespace tenon::tools
