// SPDX-License-Identifier: BSD-2-Clause
// The command `tenon`. It knows the library by its public interface alone. Only the commands that are
// programs of their own initialise it, and MPI with it.
#include "tools/bench.hpp"
#include "tools/check.hpp"
#include "tools/checkpoint.hpp"
#include "tools/handles.hpp"
#include "tools/indexes.hpp"
#include "tools/info.hpp"
#include "tools/plan.hpp"

#include <tenon.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

using tenon::tools::kExitUsage;

struct Command {
  const char* name;
  const char* help;
  void (*print)();                                                   // without more words; or
  const std::vector<tenon::tools::ProgramOption>* options = nullptr; // a program's, and
  int (*run)() = nullptr;                                            // itself; or
  int (*runAlone)(int argc, char** argv) = nullptr;                  // without MPI
};

void printHelp();

void printVersion() {
  std::printf("tenon %s\n", tenon::tools::textFrom(TenonGetVersionString).c_str());
}

const Command kCommands[] = {
    {"bench", "compare communication with its limit and with MPI's own calls", nullptr,
     &tenon::tools::kBenchOptions, tenon::tools::runBench},
    {"check", "verify random operators and layers against one process", nullptr,
     &tenon::tools::kCheckOptions, tenon::tools::runCheck},
    {"checkpoint", "list and verify checkpoint files: tenon checkpoint FILE ...", nullptr, nullptr,
     nullptr, tenon::tools::runCheckpoint},
    {"errors", "print the error codes as a Markdown table", printErrorIndex},
    {"help", "list the commands; tenon help COMMAND: its options", printHelp},
    {"info", "print build, libraries, machine and performance warnings", tenon::tools::printInfo,
     &tenon::tools::kInfoOptions, tenon::tools::runInfo},
    {"options", "print all options as Markdown tables", printOptionIndex},
    {"plan", "plan placements, reductions and the parallelism of networks", nullptr, nullptr,
     nullptr, tenon::tools::runPlan},
    {"version", "print the version", printVersion},
};

// On one screen; each command lists its own options.
void printHelp() {
  std::printf("usage: tenon COMMAND [OPTIONS]\n\n");
  for (const Command& command : kCommands)
    std::printf("  %-10s  %s\n", command.name, command.help);
  std::printf("\ntenon COMMAND -help lists the options of a command. bench, check and info -job\n"
              "run on all ranks of a job: mpiexec -n 4 tenon check.\n");
}

// How many characters must be inserted, deleted or replaced to make b of a.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t above = row[j + 1];
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      row[j + 1] = std::min({above + 1, row[j] + 1, replaced});
      diagonal = above;
    }
  }
  return row.back();
}

// --help, -h and -version are accepted for help and version.
std::string bare(const char* word) {
  return tenon::tools::asksHelp(word) ? "help" : word + std::strspn(word, "-");
}

const Command& nearest(const std::string& word) {
  const Command* best = &kCommands[0];
  for (const Command& command : kCommands)
    if (distance(word, command.name) < distance(word, best->name))
      best = &command;
  return *best;
}

int refuse(const char* what, const char* word, const char* meant) {
  std::fprintf(stderr, "tenon: %s '%s'; did you mean '%s'? (tenon help lists the commands)\n", what,
               word, meant);
  return kExitUsage;
}

int run(int argc, char** argv);

// tenon help plan network: tenon plan network -help.
int runHelp(int argc, char** argv) {
  std::string help = "-help";
  std::vector<char*> words(argv, argv + argc);
  words.erase(words.begin() + 1);
  words.push_back(help.data());
  words.push_back(nullptr);
  return run(argc, words.data());
}

int run(int argc, char** argv) {
  if (argc < 2) {
    printHelp();
    return kExitUsage;
  }
  const std::string word = bare(argv[1]);
  const Command& command = nearest(word);
  if (word != command.name)
    return refuse("unknown command", argv[1], command.name);
  if (word == "help" && argc > 2 && !tenon::tools::asksHelp(argv[2]))
    return runHelp(argc, argv);
  if (command.run && (argc > 2 || !command.print))
    return tenon::tools::runProgram({command.name, command.help, *command.options, command.run},
                                    argc, argv);
  if (command.runAlone)
    return command.runAlone(argc, argv);
  if (argc > 2 && !tenon::tools::asksHelp(argv[2]))
    return refuse("unknown argument", argv[2], ("tenon " + word).c_str());
  if (argc > 2 && word != "help")
    std::printf("tenon %s: %s\n", command.name, command.help);
  else
    command.print();
  return 0;
}

// Whoever reads the output must not take a part of it for the whole. What the library prints goes by
// the same stream.
int closeOutput(int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0)
    return status;
  std::fputs("tenon: cannot write the output\n", stderr);
  return status == 0 ? tenon::tools::kExitFailed : status;
}

} // namespace

int main(int argc, char** argv) {
  return closeOutput(run(argc, argv));
}
