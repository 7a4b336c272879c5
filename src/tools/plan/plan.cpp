// SPDX-License-Identifier: BSD-2-Clause
// `tenon plan COMMAND [OPTIONS]`: reads the options, runs the command that is named, and contains
// the three commands that only print a table: signatures, conversions, placements. The others are
// in reductions.cpp, simulate.cpp and network.cpp. Nothing here initialises MPI or the library:
// options are declared, set and read one by one, and a mistake is reported in one line with exit
// status 2. runPlan() is declared in tools/commands.hpp, the commands of other files in
// commands.hpp.
#include "tools/commands.hpp"

#include "geometry/schedule/traffic.hpp"
#include "sys/errors/error.hpp"
#include "tools/handles.hpp"
#include "tools/plan/commands.hpp"
#include "tools/plan/machine.hpp"
#include "tools/plan/system.hpp"
#include "tools/program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tenon/ext/layer.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <limits>
#include <stdexcept>

namespace tenon::tools {

// `tenon plan signatures` prints the signature table of a type: from the properties of a layer's
// inputs to those of its parameters and output.

extern const std::vector<ProgramOption> kSignatureOptions; // used in kPlanCommands below
int planSignatures();

const std::vector<ProgramOption> kSignatureOptions{
    {"layer", TENON_OPTION_STRING, "", "type of layers: conv, affine, matmul, ..."},
    {"ndim", TENON_OPTION_INT, "0",
     "dimensions of the first input; 0: the fewest that the type takes"},
    {"inputs", TENON_OPTION_STRING, "",
     "only the rows of these properties of the inputs: S1,S0; empty: all"},
};

namespace {

// Whether a line such as "k: S1,S0 -> P" has the requested properties of the inputs.
bool isOf(const std::string& line, const std::string& inputs) {
  const std::string text = line.substr(line.find(": ") + 2);
  return inputs.empty() || text.substr(0, text.find(' ')) == inputs;
}

} // namespace

int planSignatures() {
  const std::string type = textOption("layer"), inputs = textOption("inputs");
  if (type.empty())
    throw std::runtime_error("-layer is missing; pass a type such as matmul");
  const TenonInt dimensions = intOption("ndim");
  if (dimensions < 0 || dimensions > std::numeric_limits<int>::max())
    throw std::runtime_error(
        fmt::format("-ndim is {}; pass the number of dimensions of the input, or 0", dimensions));
  const std::string table = textFrom([&](char* text, TenonInt length, TenonInt* needed) {
    return TenonLayerGetTypeSignatures(type.c_str(), static_cast<int>(dimensions), text, length,
                                       needed);
  });
  int rows = 0;
  for (const std::string& line : wordsOf(table, '\n'))
    if (isOf(line, inputs)) {
      std::printf("%s\n", line.c_str());
      ++rows;
    }
  // If no row matches, the error lists the rows of the type, which the user needs next.
  if (rows == 0)
    throw std::runtime_error(
        fmt::format("layers of type {} have no row for inputs {}; they are converted to those of "
                    "one:\n{}",
                    type, inputs, table));
  return 0;
}

// `tenon plan conversions` prints the traffic of conversions between properties.

extern const std::vector<ProgramOption> kConversionOptions;
int planConversions();

const std::vector<ProgramOption> kConversionOptions{
    {"processes", TENON_OPTION_INT, "4", "number of processes along the axis"},
    {"shape", TENON_OPTION_STRING, "", "shape of the tensor: 8,8. Default: processes x processes"},
    {"json", TENON_OPTION_FLAG, "false", "print JSON"},
};

namespace {

constexpr const char* kProperties[] = {"S0", "S1", "B", "P", "R"};

// The traffic is summed rank by rank, so the number of ranks determines the time of the command.
constexpr TenonInt kMaxCounted = 65536;

// Returns the messages and elements that all processes send in a conversion between two layouts, if
// each process sends directly to each receiver.
Traffic conversionTraffic(const tenon::Layout& from, const tenon::Layout& to) {
  Traffic all;
  // Every rank is counted, since uneven parts send different amounts. Sums over many ranks can
  // exceed 64 bits.
  for (int rank : from.grid().ranks()) {
    const Traffic sent = countFlow(from, to, rank, Role::Source).others;
    all.messages += sent.messages;
    if (__builtin_add_overflow(all.elements, sent.elements, &all.elements))
      throw Error(TENON_ERR_SHAPE,
                  fmt::format("{} processes that convert a tensor of shape [{}] from {} to {} send "
                              "more elements than a 64-bit integer counts; pass a smaller shape",
                              from.grid().size(), fmt::join(from.shape(), ","),
                              tenon::describe(from.properties()),
                              tenon::describe(to.properties())));
  }
  return all;
}

// A row of the table: what all processes send in a conversion from one property to another.
struct ConversionRow {
  std::string from, to;
  Traffic sent;
};

std::vector<ConversionRow> allConversions(TenonInt processes, const Sizes& shape) {
  if (processes < 1 || processes > kMaxCounted)
    throw std::runtime_error(fmt::format("-processes is {}; the number of processes must be in 1 "
                                         "to {}",
                                         processes, kMaxCounted));
  // One axis is sufficient: conversions between properties are defined axis by axis.
  const GridPtr line = Grid::make({static_cast<int>(processes)});
  const auto layout = [&](const char* property) {
    return tenon::Layout({.shape = shape, .grid = line, .properties = parseProperties(property)});
  };
  std::vector<ConversionRow> rows;
  for (const char* from : kProperties)
    for (const char* to : kProperties)
      if (const Traffic sent = conversionTraffic(layout(from), layout(to)); sent.messages > 0)
        rows.push_back({from, to, sent});
  return rows;
}

} // namespace

int planConversions() {
  const TenonInt processes = intOption("processes");
  const Sizes shape =
      textOption("shape").empty() ? Sizes{processes, processes} : sizesOption("shape");
  const std::vector<ConversionRow> rows = allConversions(processes, shape);
  // The number of elements of the whole tensor, the unit of the traffic.
  TenonInt elements = 1;
  for (TenonInt extent : shape)
    elements *= extent;
  if (flagOption("json")) {
    std::string text;
    for (const ConversionRow& row : rows)
      text += fmt::format(
          "{}{{\"from\": \"{}\", \"to\": \"{}\", \"messages\": {}, \"elements\": {}}}",
          text.empty() ? "" : ", ", row.from, row.to, row.sent.messages, row.sent.elements);
    fmt::print("{{\"conversions\": [{}]}}\n", text);
    return 0;
  }
  fmt::print("{} processes, {} elements; conversions that send nothing are left out\n"
             "  from  to   messages     elements   times the tensor\n",
             processes, elements);
  for (const ConversionRow& row : rows)
    fmt::print("  {:<4}  {:<2} {:>10} {:>12} {:>18.4g}\n", row.from, row.to, row.sent.messages,
               row.sent.elements,
               static_cast<double>(row.sent.elements) / static_cast<double>(elements));
  return 0;
}

// `tenon plan placements` lists the parallelism matrices of a job on a system.

extern const std::vector<ProgramOption> kPlacementOptions;
int planPlacements();

const std::vector<ProgramOption> kPlacementOptions{
    {"system", TENON_OPTION_STRING, "", "level sizes of the system, outermost first: 4,16"},
    {"axes", TENON_OPTION_STRING, "", "number of processes along each grid axis: 8,2,4"},
    {"reductions", TENON_OPTION_STRING, "",
     "sums of one step, each as its axes and its bytes on each device: 0,2:4000000;1:1000000"},
    kMachineOption,
    kAlgorithmOption,
    {"size", TENON_OPTION_INT, "5", "maximum number of instructions per program"},
    {"json", TENON_OPTION_FLAG, "false", "print JSON"},
};

namespace {

// A reduction (sum) over axes of the job, with the bytes of its data. The sums of a job decide
// which placement is best.
struct PlacedSum {
  std::vector<int> axes;
  TenonInt bytes;
};

// Parses -reductions, such as 0,2:4000000;1:1000000.
std::vector<PlacedSum> sumsOption() {
  const std::string given = textOption("reductions");
  std::vector<PlacedSum> sums;
  for (const std::string& one : given.empty() ? std::vector<std::string>() : wordsOf(given, ';')) {
    const std::size_t colon = one.find(':');
    if (colon == std::string::npos)
      throw std::runtime_error(fmt::format(
          "-reductions {}: '{}' has no bytes; pass axes and bytes, such as 0,2:4000000;1:1000000",
          given, one));
    PlacedSum sum;
    for (const TenonInt axis : sizesFrom("reductions", one.substr(0, colon))) {
      // The library checks whether the axis exists.
      if (axis < 0 || axis > std::numeric_limits<int>::max())
        throw std::runtime_error(
            fmt::format("-reductions {}: axis {}; axes are numbered from 0", given, axis));
      sum.axes.push_back(static_cast<int>(axis));
    }
    const Sizes bytes = sizesFrom("reductions", one.substr(colon + 1));
    if (bytes.size() != 1 || bytes.front() < 1)
      throw std::runtime_error(fmt::format(
          "-reductions {}: '{}' must end with one number of bytes, at least 1", given, one));
    sum.bytes = bytes.front();
    sums.push_back(std::move(sum));
  }
  return sums;
}

// For each placement the seconds of all sums, one after the other, each by its fastest program;
// empty if no sums are requested.
std::vector<double> secondsOf(const PlannedPlacements& placements) {
  const std::vector<PlacedSum> sums = sumsOption();
  const int size = programSizeOption();
  if (sums.empty() && !textOption("machine").empty())
    throw std::runtime_error("-machine needs -reductions, whose times it gives");
  if (sums.empty())
    return {};
  for (const PlacedSum& sum : sums)
    require(TenonPlacementListAddReduction(placements.list, static_cast<int>(sum.axes.size()),
                                           sum.axes.data(), static_cast<double>(sum.bytes)));
  return PlannedMachine::forSums(placements.system)
      .predict(placements.list, placements.count(), size);
}

void placementsAsJson(const PlannedPlacements& placements, const std::vector<double>& seconds) {
  std::string matrices;
  for (TenonInt i = 0; i < placements.count(); ++i)
    matrices += (i > 0 ? ", " : "") + textOf(placements.matrix(i));
  const std::string times =
      seconds.empty()
          ? ""
          : fmt::format(", \"predicted_s\": [{}], \"best\": {}", fmt::join(seconds, ", "),
                        std::ranges::min_element(seconds) - seconds.begin());
  fmt::print("{{\"count\": {}, \"matrices\": [{}]{}}}\n", placements.count(), matrices, times);
}

void placementsAsText(const PlannedPlacements& placements, const std::vector<double>& seconds) {
  fmt::print("{} of grid axes {} on system {}; one row per axis, one column per level\n",
             counted(placements.count(), "placement"), textOf(placements.axes),
             textOf(placements.system));
  for (TenonInt i = 0; i < placements.count(); ++i)
    fmt::print("{}{}\n", textOf(placements.matrix(i)),
               seconds.empty() ? "" : fmt::format("  {:.6g} s", seconds[i]));
  if (!seconds.empty()) {
    const auto least = std::ranges::min_element(seconds);
    fmt::print("least: {}, {:.6g} s\n", textOf(placements.matrix(least - seconds.begin())), *least);
  }
}

} // namespace

int planPlacements() {
  // If the axes fit no level there is no placement; a program that reads JSON then gets an empty
  // list, and the exit status of a wrong call.
  const bool isJson = flagOption("json");
  const auto placements = PlannedPlacements::fromOptions([&] {
    if (isJson)
      fmt::print("{{\"count\": 0, \"matrices\": []}}\n");
  });
  (isJson ? placementsAsJson : placementsAsText)(placements, secondsOf(placements));
  return 0;
}

namespace {

struct PlanCommand {
  const char* name;
  const char* help;
  const std::vector<ProgramOption>* options;
  int (*run)();                   // returns the exit status
  const char* repeated = nullptr; // an option whose repeated values are joined by commas
};

const PlanCommand kPlanCommands[] = {
    {"placements", "list the placements of the grid axes of a job on a system", &kPlacementOptions,
     planPlacements},
    {"reductions", "list the programs that reduce over axes, for each placement",
     &kReductionOptions, planReductions},
    {"simulate", "rank programs and placements by predicted time on a machine", &kSimulateOptions,
     planSimulate},
    {"signatures", "print the signature table of a type of layers", &kSignatureOptions,
     planSignatures},
    {"conversions", "print what conversions between properties send", &kConversionOptions,
     planConversions},
    {"network", "choose the parallelism of each layer of a network by its time", &kNetworkOptions,
     planNetwork, "-fix"},
};

int refuse(const std::string& message) {
  printError("tenon plan: " + message + "\n");
  return kExitUsage;
}

std::string names() {
  std::string all;
  for (const PlanCommand& command : kPlanCommands)
    all += (all.empty() ? "" : ", ") + std::string(command.name);
  return all;
}

void printPlanCommands() {
  std::printf("usage: tenon plan COMMAND [OPTIONS]\n\n");
  for (const PlanCommand& command : kPlanCommands)
    std::printf("  %-11s  %s\n", command.name, command.help);
  std::printf("\ntenon plan COMMAND -help lists the options of a command. None needs MPI.\n");
}

// Errors are returned as codes during its lifetime. There is no other process, so a mistake is
// reported in one line without a stack.
class Silence {
public:
  Silence() { TenonPushErrorHandler(TenonReturnErrorHandler, nullptr); }
  ~Silence() { TenonPopErrorHandler(); }
};

// Reads the options of a command. Returns whether to run it; -help is answered here.
bool readOptions(const PlanCommand& command, int argc, char** argv) {
  const std::string owner = std::string("plan ") + command.name;
  for (const ProgramOption& option : *command.options)
    require(TenonOptionsDeclare(owner.c_str(), option.name, option.type, option.defaultValue,
                                option.help, nullptr));
  std::string all;
  for (int i = 3; i < argc; ++i) {
    const char* key = argv[i];
    if (asksHelp(key)) {
      std::printf("tenon plan %s: %s\n", command.name, command.help);
      std::fflush(stdout);
      require(TenonOptionsHelp(owner.c_str()));
      return false;
    }
    if (!isOption(key))
      throw std::runtime_error(std::string("unknown argument '") + key + "' of tenon plan " +
                               command.name + "; see tenon plan " + command.name + " -help");
    const char* value = i + 1 < argc && !isOption(argv[i + 1]) ? argv[++i] : nullptr;
    // The values of a repeatable option are joined; the library would replace the value.
    if (command.repeated && value && std::string(key) == command.repeated)
      value = all.append(all.empty() ? "" : ",").append(value).c_str();
    require(TenonOptionsSet(key, value));
  }
  return true;
}

} // namespace

int runPlan(int argc, char** argv) {
  if (argc == 3 && asksHelp(argv[2])) {
    printPlanCommands();
    return 0;
  }
  if (argc < 3)
    return refuse("a command is missing; use one of " + names());
  const Silence silence;
  for (const PlanCommand& command : kPlanCommands)
    if (std::string(argv[2]) == command.name)
      try {
        return readOptions(command, argc, argv) ? command.run() : 0;
      } catch (const Error& error) {
        // In the format of the library's own errors (handles.hpp).
        return refuse(std::string(errorName(error.code())) + ": " + error.text());
      } catch (const std::exception& error) {
        return refuse(error.what());
      }
  return refuse(std::string("unknown command '") + argv[2] + "'; use one of " + names());
}

} // namespace tenon::tools
