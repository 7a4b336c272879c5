// SPDX-License-Identifier: BSD-2-Clause
// Reads a command's options and runs it on all ranks, between initialise and finalise. Options are
// declared before the library starts, because TenonInitialize() reads the command line: it answers
// -help and rejects unknown options, on all ranks alike and before any work.
#include "tools/program.hpp"

#include "sys/text/plain_text.hpp"
#include "tools/handles.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cstdio>
#include <exception>

namespace tenon::tools {

namespace {

// The first argument after the command that is neither an option nor the value of one. An option
// has at most one value.
const char* strayWord(int argc, char** argv) {
  for (int i = 2; i < argc; ++i)
    if (!isOption(argv[i]) && !isOption(argv[i - 1]))
      return argv[i];
  return nullptr;
}

// All ranks read the same command line, so only one of them prints.
int refuse(const Program& program, const char* word) {
  if (worldRank() == 0)
    printError(fmt::format("tenon: unknown argument '{0}' of tenon {1}; see tenon {1} -help\n",
                           word, program.name));
  return kExitUsage;
}

// After a failed start: the ranks' messages must be printed before the first of them ends.
int endEarly() {
  int isRunning = 0;
  MPI_Initialized(&isRunning);
  if (isRunning)
    MPI_Finalize();
  return kExitUsage;
}

// An exception on one rank can leave the others waiting, so it ends them all.
int runGuarded(const Program& program) {
  try {
    return program.run();
  } catch (const std::exception& error) {
    printError(fmt::format("tenon {}: rank {}: {}\n", program.name, worldRank(), error.what()));
    MPI_Abort(MPI_COMM_WORLD, kExitFailed);
  }
  return kExitFailed;
}

// Returns the library's reason why this process has no device, or "" if it has one. The library has
// no call to query this. So a small tensor is created on the device, and the text of the error, if
// there is one, is returned.
std::string missingDevice() {
  const TenonInt zero = 0, one = 1;
  Layout layout;
  DTensor x;
  TenonCallAbort(TenonPushErrorHandler(TenonReturnErrorHandler, nullptr));
  std::string reason;
  try {
    require(TenonLayoutCreateFromBoxes(MPI_COMM_SELF, 1, &one, &zero, &one, layout.out()));
    require(TenonDTensorCreate(layout, TENON_FLOAT32, x.out()));
    require(TenonDTensorSetSpace(x, TENON_MEMORY_DEVICE));
  } catch (const CallError& error) {
    reason = error.what();
  }
  TenonPopErrorHandler();
  return reason;
}

// Whether all ranks have a device. Only the first rank without one prints the reason.
bool haveDevices(const char* command) {
  const std::string reason = missingDevice();
  // The least rank without a device, or the number of ranks if all have one: a single reduction for
  // both.
  const int ownRank = reason.empty() ? worldSize() : worldRank();
  int first = 0;
  MPI_Allreduce(&ownRank, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (first == worldRank())
    printError(fmt::format("tenon {}: -space device: rank {}: {}\n", command, first, reason));
  return first == worldSize();
}

} // namespace

void printError(const std::string& text) {
  std::fputs(printable(text, kLineLayout).c_str(), stderr);
}

bool isOption(const char* word) {
  return word[0] == '-' && std::isalpha(static_cast<unsigned char>(word[1]));
}

bool asksHelp(const std::string& word) {
  return word == "-help" || word == "-h" || word == "--help";
}

int runProgram(const Program& program, int argc, char** argv) {
  for (const ProgramOption& option : program.options)
    TenonCallAbort(TenonOptionsDeclare(program.name, option.name, option.type, option.defaultValue,
                                       option.help, nullptr));
  TenonCallAbort(TenonOptionsOwnCommandLine());
  const std::string help = std::string("tenon ") + program.name + ": " + program.help + "\n";
  if (TenonInitialize(&argc, &argv, help.c_str()) != TENON_SUCCESS)
    return endEarly();
  // TenonInitialize() has checked the options; arguments that are not options are checked here.
  const char* stray = strayWord(argc, argv);
  const int status = stray ? refuse(program, stray) : runGuarded(program);
  return TenonFinalize() == TENON_SUCCESS ? status : kExitFailed;
}

TenonInt intOption(const char* name) {
  TenonInt value = 0;
  TenonCallAbort(TenonOptionsGetInt("-", name, &value));
  return value;
}

std::optional<TenonMemorySpace> spaceOption(const char* command) {
  const std::string word = textOption("space");
  if (word == "host")
    return TENON_MEMORY_HOST;
  if (word == "device")
    return haveDevices(command) ? std::optional(TENON_MEMORY_DEVICE) : std::nullopt;
  if (worldRank() == 0)
    printError(fmt::format("tenon {}: -space is '{}'; it must be host or device\n", command, word));
  return std::nullopt;
}

std::string counted(TenonInt count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

int worldRank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int worldSize() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

} // namespace tenon::tools
