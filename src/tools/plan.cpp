// SPDX-License-Identifier: BSD-2-Clause
#include "tools/plan.hpp"

#include "tools/handles.hpp"
#include "tools/plan_conversions.hpp"
#include "tools/plan_network.hpp"
#include "tools/plan_placements.hpp"
#include "tools/plan_reductions.hpp"
#include "tools/plan_signatures.hpp"
#include "tools/plan_simulate.hpp"

#include <cstdio>
#include <exception>

namespace tenon::tools {

namespace {

struct PlanCommand {
  const char* name;
  const char* help;
  const std::vector<ProgramOption>* options;
  int (*run)();                   // gives the exit status
  const char* repeated = nullptr; // an option whose values are joined by commas
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
  std::fprintf(stderr, "tenon plan: %s\n", message.c_str());
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

// No other process speaks, so a mistake is one line.
class Silence {
public:
  Silence() { TenonPushErrorHandler(TenonReturnErrorHandler, nullptr); }
  ~Silence() { TenonPopErrorHandler(); }
};

// Whether the command is to be run; the answer to -help is given here.
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
      } catch (const std::exception& error) {
        return refuse(error.what());
      }
  return refuse(std::string("unknown command '") + argv[2] + "'; use one of " + names());
}

} // namespace tenon::tools
