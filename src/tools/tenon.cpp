// SPDX-License-Identifier: BSD-2-Clause
// The command `tenon`. It knows the library by its public interface alone, and needs no MPI run.
#include "tools/indexes.hpp"

#include <tenon.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr int kExitUsage = 2;

struct Command {
  const char* name;
  const char* help;
  void (*run)();
};

void printHelp();

void printVersion() {
  char text[64] = "";
  TenonCallAbort(TenonGetVersionString(text, sizeof text));
  std::printf("tenon %s\n", text);
}

void printInfo() {
  char text[4096] = "";
  TenonCallAbort(TenonGetBuildInfo(text, sizeof text));
  std::fputs(text, stdout);
  TenonCallAbort(TenonGetPerformanceAdvice(text, sizeof text));
  if (text[0] != '\0')
    std::printf("warning: %s\n", text);
}

constexpr Command kCommands[] = {
    {"errors", "the index of error codes, as a Markdown table", printErrorIndex},
    {"help", "list the commands", printHelp},
    {"info", "what the library was built with and runs on, and what keeps it slow", printInfo},
    {"options", "the index of options, as Markdown tables", printOptionIndex},
    {"version", "the version", printVersion},
};

void printHelp() {
  std::printf("usage: tenon <command>\n");
  for (const Command& command : kCommands)
    std::printf("  %-8s %s\n", command.name, command.help);
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

// --help and -version are accepted for help and version.
std::string bare(const char* word) {
  return word + std::strspn(word, "-");
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

} // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    printHelp();
    return kExitUsage;
  }
  const std::string word = bare(argv[1]);
  const Command& command = nearest(word);
  if (word != command.name)
    return refuse("unknown command", argv[1], command.name);
  if (argc > 2)
    return refuse("unknown argument", argv[2], ("tenon " + word).c_str());
  command.run();
  return 0;
}
