// SPDX-License-Identifier: BSD-2-Clause
// The main loop of `tenon check`: draws one configuration after the other, and stops at the first
// in which any rank finds an error. A configuration is a function of seed and number only,
// including the options that it draws. The printed command can therefore repeat it without the
// preceding ones. The file has three parts: ConversionOptions draws options of the library,
// Watchdog ends a configuration that hangs, and Sweep runs the configurations. runCheck() is
// declared in tools/commands.hpp.
#include "tools/commands.hpp"

#include "sys/text/plain_text.hpp"
#include "tools/check/case.hpp"
#include "tools/check/kinds.hpp"
#include "tools/program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <numeric>
#include <string>

namespace tenon::tools {

// The options -tenon_conversion_... and the predicted cost of messages determine how the library
// moves data, and must not change any result. For each configuration `tenon check` draws values of
// those that the user has not set.

class ConversionOptions {
public:
  ConversionOptions();
  // Sets each option to one of its choices.
  void draw(Case& c) const;

private:
  struct Option {
    std::string key;
    std::vector<std::string> choices;
    TenonOptionType type = TENON_OPTION_CHOICE;
  };
  void addChoices();
  void addUnlessGiven(Option option);
  static void read(const Option& option);

  std::vector<Option> drawn_;
};

namespace {

// The options of conversions are named "-tenon_conversion_...".
constexpr const char kStart[] = "-tenon_", kOwner[] = "conversion_";

// The choices of an option without "shared" and others that not every machine supports. The choice
// "auto" uses those where they are available.
std::vector<std::string> choicesOf(int option) {
  std::vector<std::string> words = wordsOf(declaredText(option, TENON_OPTION_TEXT_CHOICES), '|');
  std::erase_if(words, [](const auto& word) { return word == "shared" || word == "node_aware"; });
  return words;
}

} // namespace

ConversionOptions::ConversionOptions() {
  addChoices();
  // With slow messages, fewer messages and an overlapped halo exchange are cheaper.
  addUnlessGiven({"-tenon_machine_latency", {"1e-6", "1"}, TENON_OPTION_REAL});
  // With 0 every part in shared memory is read in place.
  addUnlessGiven({"-tenon_conversion_pack_limit", {"0", "8192"}, TENON_OPTION_INT});
}

void ConversionOptions::addUnlessGiven(Option option) {
  // The library's functions take the name after "-tenon_".
  TenonBool isGiven = TENON_FALSE;
  require(TenonOptionsHas("", option.key.c_str() + sizeof kStart - 1, &isGiven));
  if (!isGiven)
    drawn_.push_back(std::move(option));
}

void ConversionOptions::addChoices() {
  int count = 0;
  require(TenonOptionsGetDeclaredCount(&count));
  for (int i = 0; i < count; ++i) {
    const std::string name = declaredText(i, TENON_OPTION_TEXT_KEY);
    if (declaredText(i, TENON_OPTION_TEXT_TYPE) == "choice" &&
        name.starts_with(std::string(kStart) + kOwner))
      addUnlessGiven({name, choicesOf(i)});
  }
}

// Reads an option once. If the configuration has no conversion, the library would otherwise report
// that the option is unused.
void ConversionOptions::read(const Option& option) {
  const char* name = option.key.c_str() + sizeof kStart - 1;
  double real = 0;
  TenonInt number = 0;
  if (option.type == TENON_OPTION_REAL)
    require(TenonOptionsGetReal("", name, &real));
  else if (option.type == TENON_OPTION_INT)
    require(TenonOptionsGetInt("", name, &number));
  else
    textOption(name, "");
}

void ConversionOptions::draw(Case& c) const {
  for (const Option& option : drawn_) {
    const std::string choice = c.draw.of(option.choices);
    require(TenonOptionsSet(option.key.c_str(), choice.c_str()));
    read(option);
    c.text += " " + option.key + " " + choice;
  }
}

// Ends this process with a message if a configuration takes too long, for example because ranks
// wait for each other; mpiexec then ends the other processes. The timer is SIGALRM: it needs no
// thread, and interrupts a rank that waits within MPI.

class Watchdog {
public:
  // 0 seconds: no limit.
  Watchdog(int seconds, const std::string& message);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // Replaces the message when more is known.
  static void say(const std::string& message);
};

namespace {

// A signal handler must not use heap or streams: the text is stored in static memory.
char messageText[4096];
volatile std::sig_atomic_t messageLength = 0;

extern "C" void endProcess(int) {
  if (write(STDERR_FILENO, messageText, static_cast<std::size_t>(messageLength)) < 0)
    _exit(2);
  _exit(1);
}

} // namespace

Watchdog::Watchdog(int seconds, const std::string& message) {
  say(message);
  std::signal(SIGALRM, endProcess);
  alarm(static_cast<unsigned>(seconds));
}

Watchdog::~Watchdog() {
  alarm(0);
}

void Watchdog::say(const std::string& message) {
  const std::string shown = printable(message, kLineLayout);
  const std::size_t length = std::min(shown.size(), sizeof messageText);
  // The length is 0 while the text changes: a signal in between prints no partial text.
  messageLength = 0;
  std::copy_n(shown.begin(), length, messageText);
  messageLength = static_cast<std::sig_atomic_t>(length);
}

const std::vector<ProgramOption> kCheckOptions = {
    {"n", TENON_OPTION_INT, "200", "number of configurations"},
    {"seed", TENON_OPTION_INT, "1", "random seed"},
    {"case", TENON_OPTION_INT, "-1",
     "run only the configuration of this number; -1: run the first n"},
    {"only", TENON_OPTION_STRING, "",
     "run only kinds of configurations (operators, types of layers) whose names contain this word"},
    {"layers", TENON_OPTION_FLAG, "false", "draw layers alone, every type as often as the others"},
    {"space", TENON_OPTION_STRING, "host", "memory space of the tensors: host or device"},
    {"digest", TENON_OPTION_FLAG, "false",
     "print a digest of all bits that were computed: equal in runs with equal results"},
    {"timeout", TENON_OPTION_INT, "120",
     "timeout in seconds for a configuration that hangs; 0: none"},
};

namespace {

// The kinds to draw: those whose names contain a word, layers only or all, with tensors in a space.
struct Selection {
  std::string word;
  bool layers = false;
  TenonMemorySpace space = TENON_MEMORY_HOST;

  std::string options() const {
    return (layers ? std::string(" -layers") : "") + (word.empty() ? "" : " -only " + word) +
           (space == TENON_MEMORY_DEVICE ? " -space device" : "");
  }
};

std::vector<CaseKind> kindsOf(const Selection& selection) {
  std::vector<CaseKind> kinds = layerKinds();
  if (selection.layers) {
    for (CaseKind& kind : kinds)
      // Every type is drawn with the same frequency, regardless of its number of settings.
      kind.weight = 1;
    return kinds;
  }
  std::vector<CaseKind> all = operatorKinds();
  all.insert(all.end(), kinds.begin(), kinds.end());
  return all;
}

// The kinds to draw from, repeated according to their weights. A kind of weight 0 fails on purpose
// and is included only by its full name.
std::vector<CaseKind> kindsIn(const Selection& selection) {
  const std::string& word = selection.word;
  std::vector<CaseKind> matching;
  for (const CaseKind& kind : kindsOf(selection))
    if (kind.name.find(word) != std::string::npos)
      matching.insert(matching.end(), word == kind.name ? std::max(kind.weight, 1) : kind.weight,
                      kind);
  return matching;
}

int refuseOnly(const Selection& selection) {
  std::vector<std::string> names;
  for (const CaseKind& kind : kindsOf(selection)) // an operator and a layer can have the same name
    if (kind.weight > 0 && std::ranges::find(names, kind.name) == names.end())
      names.push_back(kind.name);
  if (worldRank() == 0)
    printError(
        fmt::format("tenon check: no kind of configuration contains '{}'; the kinds are {}\n",
                    selection.word, fmt::join(names, ", ")));
  return kExitUsage;
}

constexpr TenonInt kMaxTimeout = 86400; // a day, in seconds

int refuseNumbers(TenonInt n, TenonInt number, TenonInt timeout) {
  if (worldRank() == 0)
    printError(fmt::format("tenon check: -n is {}, -case {} and -timeout {}; they must be >= 0, "
                           ">= -1, and in 0 to {}\n",
                           n, number, timeout, kMaxTimeout));
  return kExitUsage;
}

// The sweep over the configurations. After each configuration, an all-reduce determines whether all
// ranks continue. It has its own communicator (verdicts_): on MPI_COMM_WORLD it could match a
// message that a wrong configuration has left pending.
class Sweep {
public:
  Sweep(TenonInt seed, Selection selection, int timeout)
      : seed_(seed), selection_(std::move(selection)), kinds_(kindsIn(selection_)),
        timeout_(timeout) {
    MPI_Comm_dup(MPI_COMM_WORLD, &verdicts_);
    // An invalid configuration is a result, not a failure: errors are returned as codes, except in
    // Apply, where they are fatal.
    TenonCallAbort(TenonPushErrorHandler(TenonReturnErrorHandler, nullptr));
    TenonCallAbort(TenonSetFatalErrorHandler(endFatally, this));
  }
  ~Sweep() {
    TenonSetFatalErrorHandler(nullptr, nullptr);
    TenonPopErrorHandler();
    MPI_Comm_free(&verdicts_);
  }

  // Whether no rank found an error.
  bool runCase(TenonInt number);
  int refused() const { return refused_; }
  // The digest of all cases and ranks, in the order of both, on rank 0. Collective.
  std::uint64_t digest() const;
  const std::string& text() const { return current_->text; }

private:
  static void endFatally(TenonErrorCode code, int level, const char* message, const char* function,
                         const char* file, int line, void* sweep);
  std::string report() const;
  bool conclude();

  TenonInt seed_, number_ = 0;
  std::uint64_t digest_ = 0; // of this rank
  Selection selection_;
  std::vector<CaseKind> kinds_;
  ConversionOptions options_;
  int timeout_, refused_ = 0;
  MPI_Comm verdicts_ = MPI_COMM_NULL;
  std::unique_ptr<Case> current_;
};

std::string repeatLine(TenonInt seed, TenonInt number, const Selection& selection) {
  return fmt::format("mpiexec -n {} tenon check -seed {} -case {}{}", worldSize(), seed, number,
                     selection.options());
}

std::string Sweep::report() const {
  return fmt::format("tenon check: FAILED: configuration {}:{}\n  rank {}: {}\n  repeat: {}\n",
                     number_, current_->text, worldRank(), current_->finding,
                     repeatLine(seed_, number_, selection_));
}

// The handler of an error in Apply, on the rank where it occurs. The other ranks wait for this
// rank, so it prints the report and ends all processes.
void Sweep::endFatally(TenonErrorCode code, int, const char* message, const char*, const char*, int,
                       void* sweep) {
  auto& self = *static_cast<Sweep*>(sweep);
  self.current_->found(TenonErrorName(code), std::string(": ") + message);
  printError(self.report());
  MPI_Abort(MPI_COMM_WORLD, kExitFailed);
}

bool Sweep::runCase(TenonInt number) {
  number_ = number;
  current_ = std::make_unique<Case>(
      Case{.comm = MPI_COMM_WORLD,
           .rank = worldRank(),
           .ranks = worldSize(),
           .draw = Draw(static_cast<std::uint64_t>(seed_), static_cast<std::uint64_t>(number)),
           .space = selection_.space});
  // The kind is the first draw, and the options are the next: they are the same on all ranks.
  const CaseKind kind = current_->draw.of(kinds_);
  current_->text = " " + kind.name;
  const Watchdog watchdog(timeout_,
                          fmt::format("tenon check: configuration {} hangs\n  repeat: {}\n", number,
                                      repeatLine(seed_, number, selection_)));
  try {
    options_.draw(*current_);
    kind.run(*current_);
  } catch (const std::runtime_error& error) {
    current_->found("error: ", error.what());
    // Other ranks can be waiting for this rank: if the time limit is exceeded, print its error.
    Watchdog::say(report());
  }
  refused_ += current_->isRefused;
  digest_ = hash(digest_, current_->digest);
  return conclude();
}

std::uint64_t Sweep::digest() const {
  std::vector<std::uint64_t> all(static_cast<std::size_t>(worldSize()));
  MPI_Gather(&digest_, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, 0, verdicts_);
  return std::accumulate(all.begin(), all.end(), std::uint64_t{0},
                         [](std::uint64_t sum, std::uint64_t each) { return hash(sum, each); });
}

// Whether no rank has a finding; otherwise the lowest rank with one prints its report.
bool Sweep::conclude() {
  const int rank = worldRank(), ownRank = current_->finding.empty() ? worldSize() : rank;
  int first = 0;
  MPI_Allreduce(&ownRank, &first, 1, MPI_INT, MPI_MIN, verdicts_);
  if (first == rank)
    printError(report());
  return first == worldSize();
}

} // namespace

int runCheck() {
  const TenonInt n = intOption("n"), seed = intOption("seed"), single = intOption("case"),
                 timeout = intOption("timeout");
  const bool layers = flagOption("layers"), hasDigest = flagOption("digest");
  const std::optional<TenonMemorySpace> space = spaceOption("check");
  if (!space)
    return kExitUsage;
  const Selection selection{textOption("only"), layers, *space};
  if (n < 0 || single < -1 || timeout < 0 || timeout > kMaxTimeout)
    return refuseNumbers(n, single, timeout);
  if (kindsIn(selection).empty())
    return refuseOnly(selection);
  Sweep sweep(seed, selection, static_cast<int>(timeout));
  const TenonInt first = single < 0 ? 0 : single, end = single < 0 ? n : single + 1;
  for (TenonInt number = first; number < end; ++number) {
    if (!sweep.runCase(number))
      return kExitFailed;
    TenonCallAbort(TenonProgressShow("check", number - first + 1, end - first, nullptr, 0));
  }
  if (hasDigest) {
    const std::uint64_t digest = sweep.digest();
    if (worldRank() == 0)
      std::fputs(fmt::format("tenon check: digest {:016x}\n", digest).c_str(), stdout);
  }
  if (worldRank() == 0) {
    if (single >= 0)
      std::fputs(fmt::format("tenon check: configuration {}:{}\n", single, sweep.text()).c_str(),
                 stdout);
    std::fputs(
        fmt::format("tenon check: PASSED: {}, {}, seed {} ({} rejected, as on one process)\n",
                    counted(end - first, "configuration"), counted(worldSize(), "rank"), seed,
                    sweep.refused())
            .c_str(),
        stdout);
  }
  return 0;
}

} // namespace tenon::tools
