// SPDX-License-Identifier: BSD-2-Clause
// The options that there are: static tables beside the code that reads them, collected in one list
// for the process. The library's options are written -tenon_[prefix_]name, so a key is known by its
// ending; the calling program may add its own, written -name.
#pragma once

#include <deque>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon {

// The numbers that an option takes. An open end is excluded; infinity is accepted only without
// bounds.
struct OptionBounds {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool isOpenBelow = false, isOpenAbove = false;

  bool contain(double value) const;
  // "in [0,1)", "of at least 0", "above 0"; "" without bounds.
  std::string describe() const;
};
constexpr OptionBounds atLeast(double least) {
  return {.least = least};
}
constexpr OptionBounds above(double least) {
  return {.least = least, .isOpenBelow = true};
}

struct OptionSpec {
  // Flag: a truth value, true if none is written. Word: a string that may be left out (then "").
  // Ints: one or several, written 3,3.
  enum Type { Flag, Int, Real, String, Choice, Word, Ints };
  const char* name;
  Type type;
  const char* defaultValue; // nullptr for none: then only find can ask for a value
  const char* help;
  const char* choices = nullptr; // "a|b|c", for Choice
  OptionBounds bounds{};         // for Int, Ints and Real
};

struct OptionTable {
  const char* owner; // a module or type: "conv", "comm"
  std::span<const OptionSpec> specs;
};

// One option as declared by one owner.
struct OptionDeclaration {
  std::string owner;
  std::string name;
  OptionSpec::Type type;
  bool hasDefault;
  std::string defaultValue;
  std::string help;
  std::string choices; // "a|b|c"
  OptionBounds bounds;
  bool isProgram;
  std::string key; // as written without a prefix: "-tenon_name", "-name"

  // "-tenon_[prefix_]name <a|b>", as the help shows it.
  std::string usage() const;
  // "an integer in [0,9]", "one of a|b": for messages.
  std::string expected() const;
  bool accepts(std::string_view value) const;
};

// Two owners may declare one name only with the same type; the same table twice counts once.
void registerOptions(const OptionTable& table);
// Declares options of the program, before the command line is read. All owners of one of its
// options give it the same default.
void declareProgramOptions(const OptionTable& table);
// From now on every key on the command line must be declared. -help is declared too, and the
// library answers it unless the program has declared it before.
void ownCommandLine();
bool ownsCommandLine();
bool answersHelp();

// For tables of the library: const OptionRegistration kRegistration{{"conv", kOptions}};
struct OptionRegistration {
  explicit OptionRegistration(const OptionTable& table) { registerOptions(table); }
};

// All declarations in order of registration; they stay where they are for the life of the process.
std::vector<const OptionDeclaration*> optionDeclarations();
// The declarations that a key as written may mean, the longest name first; none if it is unknown.
std::vector<const OptionDeclaration*> declarationsOf(std::string_view key);
// The declarations of an exact name, in order of registration.
std::vector<const OptionDeclaration*> declarationsNamed(std::string_view name, bool isProgram);
// The key that was probably meant; "" if nothing is declared.
std::string nearestKey(std::string_view key);

inline constexpr std::string_view kKeyStart = "-tenon_";

} // namespace tenon
