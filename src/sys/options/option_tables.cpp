// SPDX-License-Identifier: BSD-2-Clause
// The list of declared options, and searches by key. A key is matched from its end, since its
// prefix is any name that the program gives to an object: -tenon_conv1_backend is the option
// `backend` of the object conv1. Thus several names can match a key; the longest is the first.
#include "sys/options/option_tables.hpp"

#include "sys/errors/error.hpp"
#include "sys/options/option_text.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

namespace tenon {

namespace {

// Options of the library as a whole, read without a prefix.
constexpr OptionSpec kGlobalOptions[] = {
    {"help", OptionSpec::Word, "", "list the options that contain this word, or all"},
    {"options_file", OptionSpec::String, "", "read options from this file, one per line"},
    {"log_view", OptionSpec::Flag, "false", "print the event log at finalize"},
    {"log_trace", OptionSpec::String, "", "write a trace of all events to this file at finalize"},
    {"log_trace_events",
     OptionSpec::Int,
     "200000",
     "events that a rank keeps for the trace",
     nullptr,
     {1, 1e9}},
    {"log_device_wait", OptionSpec::Flag, "true",
     "while the log is on, its events wait for the device, so that their times are those of their "
     "work"},
    {"ranks", OptionSpec::Int, nullptr,
     "number of ranks that the program must have; any by default", nullptr, atLeast(1)},
    {"progress", OptionSpec::Flag, "false", "show the progress of long work"},
    {"verbose", OptionSpec::Int, "0", "1: print a line for each setup; larger values print more",
     nullptr, atLeast(0)},
    {"agree_timeout",
     OptionSpec::Real,
     "300",
     "seconds after which ranks absent from a collective call are an error",
     nullptr,
     {.least = 0, .most = 1e9, .isOpenBelow = true}},
    {"wait_warning",
     OptionSpec::Real,
     "60",
     "seconds after which a rank that waits for others names them; 0: never",
     nullptr,
     {0, 1e9}},
    {"wait_limit",
     OptionSpec::Real,
     "0",
     "seconds after which a rank that waits for others ends the program; 0: never",
     nullptr,
     {0, 1e9}},
    {"threads",
     OptionSpec::Int,
     "0",
     "largest number of threads of the library's own loops; 0: as OpenMP sets, but without "
     "OMP_NUM_THREADS no more than a rank's share of its node's CPUs",
     nullptr,
     {0, 1e6}},
    {"device",
     OptionSpec::Int,
     "-1",
     "number of the CUDA device of this process; -1: the program's choice, or by its rank on the "
     "node",
     nullptr,
     {-1, 1e6}},
    {"device_pool_bytes",
     OptionSpec::Int,
     "-1",
     "device memory in bytes that this process keeps for later while it waits for the device; -1: "
     "an eighth of the device's",
     nullptr,
     {-1, 1e15}},
    {"device_tf32", OptionSpec::Flag, "false",
     "float32 products on the device may round their factors to TF32"},
    {"device_bfloat16", OptionSpec::Flag, "false",
     "float32 products on the device may round their factors to bfloat16, and convolutions of "
     "cuDNN their results too"},
    {"device_plans", OptionSpec::Choice, "measured",
     "how convolutions on the device are computed; measured: in the fastest of several ways, which "
     "the "
     "set-up measures; heuristic: by the plan that cuDNN expects to be the fastest",
     "measured|heuristic"},
    {"device_plans_seconds",
     OptionSpec::Real,
     "10",
     "seconds after which the measurement of a convolution tries no further ways",
     nullptr,
     {0, 1e9}},
    {"device_plans_file", OptionSpec::String, "",
     "file with measured times of convolutions: read, and written for those that it lacks"},
    {"device_nondeterministic", OptionSpec::Flag, "false",
     "convolutions on the device may sum in an order that changes"},
};
constexpr OptionSpec kHelpOption[] = {
    {"help", OptionSpec::Flag, "false", "print this help and end"},
};

struct Tables {
  std::mutex mutex;
  std::deque<OptionDeclaration> list; // a deque: pointers to its entries stay valid
  bool ownsCommandLine = false, answersHelp = false;
};

OptionDeclaration declarationOf(const char* owner, const OptionSpec& spec, bool isProgram) {
  return {.owner = owner,
          .name = spec.name,
          .type = spec.type,
          .hasDefault = spec.defaultValue != nullptr,
          .defaultValue = spec.defaultValue ? spec.defaultValue : "",
          .help = spec.help ? spec.help : "",
          .choices = spec.choices ? spec.choices : "",
          .bounds = spec.bounds,
          .isProgram = isProgram,
          .key = fmt::format("{}{}", isProgram ? "-" : kKeyStart, spec.name)};
}

// Built at first use, since tables register themselves before main; never destroyed.
Tables& tables() {
  static auto* instance = [] {
    auto* created = new Tables;
    for (const auto& spec : kGlobalOptions)
      created->list.push_back(declarationOf("tenon", spec, /*isProgram=*/false));
    return created;
  }();
  return *instance;
}

bool isNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

// Checks a name: with a dash in front, it must be read as one key, and the key of a program's
// option must not begin with -tenon_, like those of the library.
void checkName(const OptionDeclaration& declared) {
  const std::string& name = declared.name;
  const bool isWord = std::all_of(name.begin(), name.end(), isNameCharacter);
  if (declared.owner.empty())
    throw Error(TENON_ERR_OPTION,
                fmt::format("option '{}' is declared without an owner; name the program", name));
  if (name.empty() || name.front() == '-' || !isWord || !looksLikeKey("-" + name))
    throw Error(TENON_ERR_OPTION,
                fmt::format("{} declares an option '{}'; expected a name of letters, digits, '_', "
                            "'.' and '-', without a dash in front, that is not a number",
                            declared.owner, name));
  if (declared.isProgram && declared.key.starts_with(kKeyStart))
    throw Error(TENON_ERR_OPTION,
                fmt::format("{} declares an option '{}'; names that begin with tenon_ are the "
                            "library's",
                            declared.owner, name));
}

// Checks that only a choice has choices, and that the default is a value of the type.
void checkValues(const OptionDeclaration& declared) {
  const auto words = split(declared.choices, '|');
  const bool hasWords = !words.empty() && std::find(words.begin(), words.end(), "") == words.end();
  if (declared.type == OptionSpec::Choice ? !hasWords : !declared.choices.empty())
    throw Error(TENON_ERR_OPTION,
                fmt::format("{} declares option '{}' with the choices '{}'; expected a|b|c for a "
                            "choice and none for other types",
                            declared.owner, declared.name, declared.choices));
  if (declared.hasDefault && !declared.accepts(declared.defaultValue))
    throw Error(TENON_ERR_OPTION,
                fmt::format("{} declares option '{}' with default '{}'; expected {}",
                            declared.owner, declared.name, declared.defaultValue,
                            declared.expected()));
}

bool isSame(const OptionDeclaration& a, const OptionDeclaration& b) {
  return a.hasDefault == b.hasDefault && a.defaultValue == b.defaultValue && a.help == b.help &&
         a.choices == b.choices;
}

// Checks that two declarations of a name agree: always in the type, and in the rest if they have
// the same owner or belong to the program, whose options have no prefix to distinguish them.
void checkAgainst(const OptionDeclaration& declared, const OptionDeclaration& other) {
  if (other.type != declared.type)
    throw Error(TENON_ERR_OPTION,
                fmt::format("{} declares option '{}' as {}, but {} declares it as {}; use "
                            "another name or the same type",
                            declared.owner, declared.name, declared.expected(), other.owner,
                            other.expected()));
  const bool hasSameDefault =
      declared.hasDefault == other.hasDefault && declared.defaultValue == other.defaultValue;
  if (declared.owner == other.owner ? !isSame(declared, other)
                                    : declared.isProgram && !hasSameDefault)
    throw Error(TENON_ERR_OPTION,
                fmt::format("{} declares option '{}' with default '{}', but {} declared it before "
                            "with default '{}', or with another text; declare it once",
                            declared.owner, declared.name, declared.defaultValue, other.owner,
                            other.defaultValue));
}

void checkDeclaration(const OptionDeclaration& declared) {
  checkName(declared);
  checkValues(declared);
  for (const auto& other : tables().list)
    if (other.name == declared.name && other.isProgram == declared.isProgram)
      checkAgainst(declared, other);
}

bool isDeclared(const OptionDeclaration& declared) {
  return std::any_of(tables().list.begin(), tables().list.end(), [&](const auto& other) {
    return other.owner == declared.owner && other.name == declared.name &&
           other.isProgram == declared.isProgram;
  });
}

void declare(const OptionTable& table, bool isProgram) {
  std::lock_guard lock(tables().mutex);
  // All are checked before any is added: a table with an error declares nothing.
  for (const auto& spec : table.specs)
    checkDeclaration(declarationOf(table.owner, spec, isProgram));
  for (const auto& spec : table.specs) {
    auto declaration = declarationOf(table.owner, spec, isProgram);
    if (!isDeclared(declaration))
      tables().list.push_back(std::move(declaration));
  }
}

// Whether the part of a library key after -tenon_, a prefix and a name, ends with this name.
bool endsWithName(std::string_view body, std::string_view name) {
  if (!body.ends_with(name))
    return false;
  return body.size() == name.size() || body[body.size() - name.size() - 1] == '_';
}

bool matches(const OptionDeclaration& declared, std::string_view key) {
  if (declared.isProgram)
    return key.substr(1) == declared.name;
  return key.starts_with(kKeyStart) && endsWithName(key.substr(kKeyStart.size()), declared.name);
}

// The declared key with the smallest edit distance to a key that the user wrote, among the
// candidates that were passed to improve(): `meant` is compared with the written text, `completed`
// is the key to suggest.
struct Candidate {
  int distance = std::numeric_limits<int>::max();
  std::string key;

  void improve(std::string_view written, std::string_view meant, const std::string& completed) {
    const int newDistance = editDistance(written, meant);
    if (newDistance < distance) {
      distance = newDistance;
      key = completed;
    }
  }
};

// The text of a bound: integers are printed without an exponent.
std::string numberText(double value) {
  constexpr double kExact = 1e15; // a double represents every integer up to 9e15
  return std::abs(value) < kExact && value == std::floor(value) ? fmt::format("{:.0f}", value)
                                                                : fmt::format("{}", value);
}

} // namespace

bool OptionBounds::contain(double value) const {
  if (std::isinf(least) && std::isinf(most))
    return true;
  return std::isfinite(value) && (isOpenBelow ? value > least : value >= least) &&
         (isOpenAbove ? value < most : value <= most);
}

std::string OptionBounds::describe() const {
  if (std::isfinite(most))
    return fmt::format("in {}{},{}{}", isOpenBelow ? '(' : '[', numberText(least), numberText(most),
                       isOpenAbove ? ')' : ']');
  return std::isfinite(least)
             ? fmt::format("{} {}", isOpenBelow ? "above" : "of at least", numberText(least))
             : "";
}

std::string OptionDeclaration::usage() const {
  // By OptionSpec::Type; Choice is formatted below.
  static constexpr const char* kValues[] = {"[true|false]", "<integer{}>", "<real{}>", "<text>", "",
                                            "[word]",       "<integers{}>"};
  const std::string interval = bounds.describe();
  const std::string value =
      type == OptionSpec::Choice
          ? fmt::format("<{}>", choices)
          : fmt::format(fmt::runtime(kValues[type]), interval.empty() ? "" : " " + interval);
  return fmt::format("{}{} {}", isProgram ? "-" : "-tenon_[prefix_]", name, value);
}

std::string OptionDeclaration::expected() const {
  // By OptionSpec::Type; Choice is formatted below.
  static constexpr const char* kTexts[] = {"true or false (or 1, 0, yes, no, on, off)",
                                           "an integer",
                                           "a real number",
                                           "text",
                                           "",
                                           "a word or nothing",
                                           "integers separated by commas, each"};
  const std::string interval = bounds.describe();
  if (type == OptionSpec::Choice)
    return fmt::format("one of {}", choices);
  if (type == OptionSpec::Ints && interval.empty())
    return "integers separated by commas";
  return fmt::format("{}{}{}", kTexts[type], interval.empty() ? "" : " ", interval);
}

bool OptionDeclaration::accepts(std::string_view value) const {
  switch (type) {
  case OptionSpec::Flag:
    return parseFlag(value).has_value();
  case OptionSpec::Int: {
    const auto number = parseInt(value);
    return number && bounds.contain(static_cast<double>(*number));
  }
  case OptionSpec::Real: {
    const auto number = parseReal(value);
    return number && bounds.contain(*number);
  }
  case OptionSpec::Ints: {
    const auto numbers = parseInts(value);
    return numbers && std::ranges::all_of(*numbers, [&](Index number) {
             return bounds.contain(static_cast<double>(number));
           });
  }
  case OptionSpec::Choice: {
    const auto words = split(choices, '|');
    return std::find(words.begin(), words.end(), value) != words.end();
  }
  default:
    return true;
  }
}

void registerOptions(const OptionTable& table) {
  declare(table, /*isProgram=*/false);
}
void declareProgramOptions(const OptionTable& table) {
  declare(table, /*isProgram=*/true);
}

namespace {

// An option is read for each object that is set up, and few of some 200 declarations match, so
// they are chosen in place rather than from a list of all.
template <class Predicate>
std::vector<const OptionDeclaration*> declarationsWhere(const Predicate& isWanted) {
  std::lock_guard lock(tables().mutex);
  std::vector<const OptionDeclaration*> pointers;
  for (const auto& declared : tables().list)
    if (isWanted(declared))
      pointers.push_back(&declared);
  return pointers;
}

} // namespace

std::vector<const OptionDeclaration*> optionDeclarations() {
  return declarationsWhere([](const auto&) { return true; });
}

void ownCommandLine() {
  // A program that has declared -help implements it itself.
  const bool isOfLibrary = declarationsNamed("help", /*isProgram=*/true).empty();
  if (isOfLibrary)
    declareProgramOptions({"program", kHelpOption});
  std::lock_guard lock(tables().mutex);
  tables().ownsCommandLine = true;
  tables().answersHelp = tables().answersHelp || isOfLibrary;
}

bool ownsCommandLine() {
  std::lock_guard lock(tables().mutex);
  return tables().ownsCommandLine;
}

bool answersHelp() {
  std::lock_guard lock(tables().mutex);
  return tables().answersHelp;
}

std::vector<const OptionDeclaration*> declarationsOf(std::string_view key) {
  auto matching = declarationsWhere([&](const auto& declared) { return matches(declared, key); });
  // The longest name has the shortest prefix, and is the more likely one.
  std::stable_sort(matching.begin(), matching.end(),
                   [](const auto* a, const auto* b) { return a->name.size() > b->name.size(); });
  return matching;
}

std::vector<const OptionDeclaration*> declarationsNamed(std::string_view name, bool isProgram) {
  return declarationsWhere([&](const auto& declared) {
    return declared.name == name && declared.isProgram == isProgram;
  });
}

std::string nearestKey(std::string_view key) {
  Candidate best;
  for (const auto* declared : optionDeclarations()) {
    best.improve(key, declared->key, declared->key);
    if (declared->isProgram || !key.starts_with(kKeyStart))
      continue;
    // Each part before an underscore can be a prefix.
    for (auto at = key.find('_', kKeyStart.size()); at != key.npos; at = key.find('_', at + 1))
      best.improve(key.substr(at + 1), declared->name,
                   fmt::format("{}{}", key.substr(0, at + 1), declared->name));
  }
  return best.key;
}

} // namespace tenon
