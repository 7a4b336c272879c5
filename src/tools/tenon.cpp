// SPDX-License-Identifier: BSD-2-Clause
// The command `tenon`: finds the command that its first argument names, and contains those that are
// too small for a separate file. It uses only the public interface of the library, and initialises
// neither it nor MPI: only commands that run on all ranks do (program.hpp). Help, tables and plans
// therefore work on a machine without MPI.
#include "tools/commands.hpp"
#include "tools/handles.hpp"
#include "tools/program.hpp"

#include <fmt/format.h>
#include <tenon.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

// The manual's indexes, as Markdown tables made from the library's own tables.

// Prints every option of every class, under the class that reads it.
void printOptionIndex();
// Prints every error code.
void printErrorIndex();

using tenon::tools::declaredText;

namespace {

struct Option {
  std::string owner, key, values, defaultValue, help;
};

// The text for a cell of a Markdown table, in which a bar would end the cell.
std::string cell(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '|')
      result += '\\';
    result += c;
  }
  return result;
}

std::string valuesOf(const std::string& type, const std::string& choices) {
  if (type == "choice")
    return choices;
  if (type == "flag")
    return "true or false";
  if (type == "real")
    return "real number";
  if (type == "word")
    return "word or nothing";
  return type == "string" ? "text" : type;
}

// All options by owner, in the order of the owner's table.
std::vector<Option> declaredOptions() {
  int count = 0;
  TenonCallAbort(TenonOptionsGetDeclaredCount(&count));
  std::vector<Option> options;
  for (int i = 0; i < count; ++i) {
    const auto text = [&](TenonOptionText which) { return declaredText(i, which); };
    options.push_back({text(TENON_OPTION_TEXT_OWNER), text(TENON_OPTION_TEXT_KEY),
                       valuesOf(text(TENON_OPTION_TEXT_TYPE), text(TENON_OPTION_TEXT_CHOICES)),
                       text(TENON_OPTION_TEXT_DEFAULT), text(TENON_OPTION_TEXT_HELP)});
  }
  std::stable_sort(options.begin(), options.end(),
                   [](const Option& a, const Option& b) { return a.owner < b.owner; });
  return options;
}

const char* kindOf(int code) {
  if (code == TENON_SUCCESS)
    return "";
  if (code == TENON_ERR_INTERNAL)
    return "a fault of Tenon";
  // The numbers are ordered: first mistakes of the caller, then resources.
  return code < TENON_ERR_MEMORY ? "a mistake in the call" : "a failing resource";
}

} // namespace

void printOptionIndex() {
  std::printf(
      "# Options\n\n"
      "Each may be written with an object's prefix after `-tenon_`, and then holds for that "
      "object alone.\nPrinted by `tenon options`.\n");
  std::string owner;
  for (const Option& option : declaredOptions()) {
    if (option.owner != owner)
      std::printf("\n## %s\n\n| option | value | default | meaning |\n| --- | --- | --- | --- |\n",
                  option.owner.c_str());
    owner = option.owner;
    std::printf("| `%s` | %s | %s | %s |\n", option.key.c_str(), cell(option.values).c_str(),
                cell(option.defaultValue).c_str(), cell(option.help).c_str());
  }
}

void printErrorIndex() {
  std::printf("# Error codes\n\nPrinted by `tenon errors`.\n\n"
              "| code | number | meaning | kind |\n| --- | --- | --- | --- |\n");
#define PRINT_ROW(name, number, sentence)                                                          \
  std::printf("| `TENON_" #name "` | %d | %s | %s |\n", number, sentence, kindOf(number));
  TENON_ERROR_TABLE(PRINT_ROW)
#undef PRINT_ROW
}

namespace tenon::tools {

// `tenon info`: build and run-time environment of the library. Without options it needs no MPI and
// prints this computer; with options it runs on all ranks.

void printInfo();
extern const std::vector<ProgramOption> kInfoOptions;
int runInfo();

const std::vector<ProgramOption> kInfoOptions{
    {"job", TENON_OPTION_FLAG, "false", "print the machine of this job (mpiexec -n 4 ...)"},
    {"machine", TENON_OPTION_STRING, "", "print a machine by description: a100x16, or a JSON file"},
};

namespace {

void printBuild() {
  std::fputs(infoText("build").c_str(), stdout);
  std::fputs(infoText("devices").c_str(), stdout);
  const std::string advice = infoText("advice");
  if (!advice.empty())
    std::printf("warning: %s\n", advice.c_str());
}

void printLocal() {
  Machine machine;
  TenonCallAbort(TenonMachineCreateLocal(machine.out()));
  TenonCallAbort(TenonObjectView(machine.object()));
}

} // namespace

void printInfo() {
  printBuild();
  printLocal();
}

int runInfo() {
  const std::string described = textOption("machine");
  const bool isJob = flagOption("job");
  // The build is the same on all ranks. The view of a job's machine is collective.
  if (worldRank() == 0) {
    printBuild();
    if (!isJob && described.empty())
      printLocal();
  }
  Machine machine;
  if (isJob) {
    TenonCallAbort(TenonMachineCreateFromComm(MPI_COMM_WORLD, machine.out()));
    TenonCallAbort(TenonObjectView(machine.object()));
  } else if (!described.empty() && worldRank() == 0) {
    TenonCallAbort(TenonMachineCreateFromFile(described.c_str(), 0, machine.out()));
    TenonCallAbort(TenonObjectView(machine.object()));
  }
  return 0;
}

} // namespace tenon::tools

namespace {

using tenon::tools::kExitUsage;

// A command. Either print, run or runAlone is set; `info` has print and run, and uses run if it has
// arguments.
struct Command {
  const char* name;
  const char* help;
  void (*print)() = nullptr; // a command without arguments and without MPI
  // A program on all ranks of a job, with MPI, and its options.
  const std::vector<tenon::tools::ProgramOption>* options = nullptr;
  int (*run)() = nullptr;
  // A command without MPI that reads its arguments itself.
  int (*runAlone)(int argc, char** argv) = nullptr;
};

void printHelp();

void printVersion() {
  std::printf("tenon %s\n", tenon::tools::infoText("version").c_str());
}

const Command kCommands[] = {
    {.name = "bench",
     .help = "compare communication with its limit and with MPI's own calls",
     .options = &tenon::tools::kBenchOptions,
     .run = tenon::tools::runBench},
    {.name = "check",
     .help = "verify random operators and layers against one process",
     .options = &tenon::tools::kCheckOptions,
     .run = tenon::tools::runCheck},
    {.name = "checkpoint",
     .help = "list and verify checkpoint files: tenon checkpoint FILE ...",
     .runAlone = tenon::tools::runCheckpoint},
    {.name = "errors",
     .help = "print the error codes as a Markdown table",
     .print = printErrorIndex},
    {.name = "help",
     .help = "list the commands; tenon help COMMAND: its options",
     .print = printHelp},
    {.name = "import",
     .help = "show what a trained network becomes: tenon import FILE",
     .runAlone = tenon::tools::runImport},
    {.name = "info",
     .help = "print build, libraries, machine and performance warnings",
     .print = tenon::tools::printInfo,
     .options = &tenon::tools::kInfoOptions,
     .run = tenon::tools::runInfo},
    {.name = "options", .help = "print all options as Markdown tables", .print = printOptionIndex},
    {.name = "plan",
     .help = "plan placements, reductions and the parallelism of networks",
     .runAlone = tenon::tools::runPlan},
    {.name = "version", .help = "print the version", .print = printVersion},
};

// On one screen; each command lists its own options.
void printHelp() {
  std::printf("usage: tenon COMMAND [OPTIONS]\n\n");
  for (const Command& command : kCommands)
    std::printf("  %-10s  %s\n", command.name, command.help);
  std::printf("\ntenon COMMAND -help lists the options of a command. bench, check and info -job\n"
              "run on all ranks of a job: mpiexec -n 4 tenon check.\n");
}

// Number of characters to insert, delete or replace to turn a into b (Levenshtein distance, with
// one row of the table in memory).
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
  tenon::tools::printError(fmt::format(
      "tenon: {} '{}'; did you mean '{}'? (tenon help lists the commands)\n", what, word, meant));
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
  // The nearest command is the command itself if the word is right, and the suggestion if it is
  // not.
  const Command& command = nearest(word);
  if (word != command.name)
    return refuse("unknown command", argv[1], command.name);
  if (word == "help" && argc > 2 && !tenon::tools::asksHelp(argv[2]))
    return runHelp(argc, argv);
  // `info` can run with or without MPI; it needs MPI only if it has options.
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

// A reader of the output must not mistake a part of it for the whole. The library prints to the
// same stream.
int closeOutput(int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0)
    return status;
  tenon::tools::printError("tenon: cannot write the output\n");
  return status == 0 ? tenon::tools::kExitFailed : status;
}

} // namespace

int main(int argc, char** argv) {
  return closeOutput(run(argc, argv));
}
