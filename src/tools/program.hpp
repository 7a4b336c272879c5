// SPDX-License-Identifier: BSD-2-Clause
// Commands of `tenon` that run on all ranks: their options, and the life of the library around
// them.
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
  const char* name; // the command's word
  const char* help; // one line, which -help prints above the options
  const std::vector<ProgramOption>& options;
  int (*run)(); // gives the exit status; called between TenonInitialize and TenonFinalize
};

// Reads and checks the options of the command line, refuses a word that is no option, and runs the
// program. Gives the exit status. Does not return from -help.
int runProgram(const Program& program, int argc, char** argv);

// Prints on stderr, as one rank does. What is not plain text in an argument shows as \x1b, as in
// what the library prints.
void printError(const std::string& text);

// Whether a word is the key of an option; a number below 0 is none.
bool isOption(const char* word);
// -help, -h and --help.
bool asksHelp(const std::string& word);
TenonInt intOption(const char* name);
// The value of -space, or none, with the reason on stderr, if it is no space or a rank has no
// device. Collective.
std::optional<TenonMemorySpace> spaceOption(const char* command);
// "1 rank", "3 ranks".
std::string counted(TenonInt count, const char* noun);
int worldRank();
int worldSize();

} // namespace tenon::tools
