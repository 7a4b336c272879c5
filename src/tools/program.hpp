// SPDX-License-Identifier: BSD-2-Clause
// The commands of `tenon` that run on all ranks (check, bench, and info with options): their
// options, and the library's initialisation and finalisation around them.
#pragma once

#include <tenon.h>

#include <optional>
#include <string>
#include <vector>

namespace tenon::tools {

inline constexpr int kExitFailed = 1, kExitUsage = 2;

struct ProgramOption {
  const char* name;
  TenonOptionType type;
  const char* defaultValue;
  const char* help;
};

struct Program {
  const char* name; // name of the command
  const char* help; // one line, which -help prints above the options
  const std::vector<ProgramOption>& options;
  int (*run)(); // returns the exit status; called between TenonInitialize and TenonFinalize
};

// Reads and checks the options of the command line, rejects an argument that is not an option, and
// runs the program. Returns the exit status. Does not return from -help.
int runProgram(const Program& program, int argc, char** argv);

// Prints on stderr, on the calling rank. Characters that are not plain text are printed as \x1b, as
// by the library.
void printError(const std::string& text);

// Whether a word is the key of an option; a negative number is not.
bool isOption(const char* word);
// -help, -h and --help.
bool asksHelp(const std::string& word);
// The value of an option of type int of the command that runs.
TenonInt intOption(const char* name);
// The value of -space, or none, with the reason on stderr, if it is invalid or a rank has no
// device. Collective.
std::optional<TenonMemorySpace> spaceOption(const char* command);
// "1 rank", "3 ranks".
std::string counted(TenonInt count, const char* noun);
int worldRank();
int worldSize();

} // namespace tenon::tools
