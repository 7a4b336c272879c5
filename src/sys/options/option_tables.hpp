// SPDX-License-Identifier: BSD-2-Clause
// The declared options: static tables beside the code that reads them, collected in one list per
// process. Options of the library are written -tenon_[prefix_]name, so a key is recognised by its
// ending: -tenon_net_data_type sets data_type of the object whose prefix is net_. The program can
// declare its own options, written -name.
#pragma once

#include <deque>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon {

// The accepted range of a number. Open ends are excluded; infinity is accepted only without bounds.
struct OptionBounds {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool isOpenBelow = false, isOpenAbove = false;

  bool contain(double value) const;
  // Text such as "in [0,1)", "of at least 0", "above 0"; "" without bounds.
  std::string describe() const;
};
constexpr OptionBounds atLeast(double least) {
  return {.least = least};
}
constexpr OptionBounds above(double least) {
  return {.least = least, .isOpenBelow = true};
}

// An option of a table.
struct OptionSpec {
  // Flag: a truth value, true if the value is omitted. Word: a string that can be omitted ("").
  // Ints: one or more integers, written 3,3.
  enum Type { Flag, Int, Real, String, Choice, Word, Ints };
  const char* name;
  Type type;
  const char* defaultValue; // nullptr if there is none: then only the find functions can read it
  const char* help;
  const char* choices = nullptr; // "a|b|c", for Choice
  OptionBounds bounds{};         // for Int, Ints and Real
};

// The options of one module or layer type.
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
  std::string key; // the key without a prefix: "-tenon_name", "-name"

  // Text such as "-tenon_[prefix_]name <a|b>", for the help.
  std::string usage() const;
  // Text such as "an integer in [0,9]" or "one of a|b", for messages.
  std::string expected() const;
  bool accepts(std::string_view value) const;
};

// Two owners can declare the same name with the same type only. Registering a table twice has no
// effect.
void registerOptions(const OptionTable& table);
// Declares options of the program, before the command line is read. All owners of a program option
// must declare the same default.
void declareProgramOptions(const OptionTable& table);
// From now on every key on the command line must be declared. Also declares -help, which the
// library then implements unless the program has declared it before.
void ownCommandLine();
bool ownsCommandLine();
bool answersHelp();

// For static tables of the library: const OptionRegistration kRegistration{{"conv", kOptions}};
struct OptionRegistration {
  explicit OptionRegistration(const OptionTable& table) { registerOptions(table); }
};

// All declarations in order of registration; the pointers are valid for the life of the process.
std::vector<const OptionDeclaration*> optionDeclarations();
// The declarations that a key can refer to, the longest name first; empty if it is unknown.
std::vector<const OptionDeclaration*> declarationsOf(std::string_view key);
// The declarations of exactly this name, in order of registration.
std::vector<const OptionDeclaration*> declarationsNamed(std::string_view name, bool isProgram);
// The declared key nearest to a misspelt one; "" if nothing is declared.
std::string nearestKey(std::string_view key);

inline constexpr std::string_view kKeyStart = "-tenon_";

} // namespace tenon
