// SPDX-License-Identifier: BSD-2-Clause
// The calls of the option database, which has all options of the command line and of files:
//   Declare, OwnCommandLine                     a program declares options of its own
//   Set, InsertFile                             add values
//   GetFlag, GetInt, GetReal, ..., Has          read a value
//   GetDeclaredCount, GetDeclaredText, Help     list all declared options
// An option of the library is "-tenon_[prefix_]name" on the command line, one of the program
// "-name". A program reads its own options with the prefix "-" (kProgram).
//
// Inside the library, reading an undeclared option, or with a wrong type, is an internal error. If
// a program does so, it is an ordinary error of the user: requestOf() checks name and type before
// the database is read. All calls are local. The calls are declared in tenon/options.h, those for
// declarations in tenon/ext/options.h.
#include "sys/options/options.hpp"

#include "capi/arguments.hpp"
#include "comm/session/session.hpp"
#include "sys/errors/guard.hpp"
#include "sys/text/output.hpp"

#include <tenon/ext/options.h>

#include <algorithm>
#include <optional>
#include <span>

namespace tenon {
namespace {

using Types = std::initializer_list<OptionSpec::Type>;

const Types kAnyType{OptionSpec::Flag,   OptionSpec::Int,  OptionSpec::Real, OptionSpec::String,
                     OptionSpec::Choice, OptionSpec::Word, OptionSpec::Ints};

// The prefix and name of an option that a program reads.
struct OptionRequest {
  std::string prefix, name;
};

// Checks that an option is declared and has one of the types. Throws TENON_ERR_OPTION, with the
// nearest declared name if there is none.
OptionRequest requestOf(const char* prefix, const char* name, const Types& types) {
  OptionRequest option{textOrEmpty(prefix), textOf(name, "name")};
  // Options that the program declares are written without -tenon_ and are in a list of their own.
  const bool isProgram = option.prefix == kProgram;
  const auto declared = declarationsNamed(option.name, isProgram);
  const std::string key =
      isProgram ? "-" + option.name : fmt::format("{}{}", kKeyStart, option.name);
  // The most likely mistake has its own message: an option of the library, read as the program's.
  if (declared.empty() && isProgram && !declarationsOf(key).empty())
    throw Error(TENON_ERR_OPTION,
                fmt::format("option {} is the library's, not the program's; pass NULL for prefix, "
                            "and the name without {}",
                            key, kKeyStart));
  if (declared.empty())
    throw Error(TENON_ERR_OPTION,
                fmt::format("option {} is not declared; did you mean {}?", key, nearestKey(key)));
  // All declarations of a name have the same type, so the first one is enough.
  if (std::find(types.begin(), types.end(), declared.front()->type) == types.end())
    throw Error(TENON_ERR_OPTION, fmt::format("option {} takes {}; use the call for that type", key,
                                              declared.front()->expected()));
  return option;
}

OptionSpec::Type typeOf(TenonOptionType type) {
  switch (type) {
  case TENON_OPTION_FLAG:
    return OptionSpec::Flag;
  case TENON_OPTION_INT:
    return OptionSpec::Int;
  case TENON_OPTION_REAL:
    return OptionSpec::Real;
  case TENON_OPTION_STRING:
    return OptionSpec::String;
  case TENON_OPTION_CHOICE:
    return OptionSpec::Choice;
  case TENON_OPTION_WORD:
    return OptionSpec::Word;
  case TENON_OPTION_INTEGERS:
    return OptionSpec::Ints;
  default:
    throw Error(TENON_ERR_ARG,
                fmt::format("unknown option type {}; use a TENON_OPTION_... constant",
                            static_cast<int>(type)));
  }
}

const std::string& nameOf(OptionSpec::Type type) {
  // In the order of OptionSpec::Type.
  static const std::string kNames[] = {"flag",   "integer", "real",    "string",
                                       "choice", "word",    "integers"};
  return kNames[type];
}

const OptionDeclaration& declaration(int index) {
  // The list can grow after the caller has read its length, but never shrinks.
  const auto declarations = optionDeclarations();
  if (index < 0 || index >= static_cast<int>(declarations.size()))
    throw Error(TENON_ERR_ARG, fmt::format("option index {} is out of range; it must be in 0 to {}",
                                           index, declarations.size() - 1));
  return *declarations[index];
}

const std::string& textOf(const OptionDeclaration& declared, TenonOptionText which) {
  switch (which) {
  case TENON_OPTION_TEXT_OWNER:
    return declared.owner;
  case TENON_OPTION_TEXT_KEY:
    return declared.key;
  case TENON_OPTION_TEXT_DEFAULT:
    return declared.defaultValue;
  case TENON_OPTION_TEXT_HELP:
    return declared.help;
  case TENON_OPTION_TEXT_CHOICES:
    return declared.choices;
  case TENON_OPTION_TEXT_TYPE:
    return nameOf(declared.type);
  default:
    throw Error(TENON_ERR_ARG, fmt::format("which is {}; use a TENON_OPTION_TEXT_... constant",
                                           static_cast<int>(which)));
  }
}

} // namespace
} // namespace tenon

using namespace tenon;

TenonErrorCode TenonOptionsDeclare(const char* owner, const char* name, TenonOptionType type,
                                   const char* defaultValue, const char* help,
                                   const char* choices) noexcept {
  return guard(__func__, [&] {
    required(owner, "owner");
    required(name, "name");
    // The texts are copied, so the caller's strings need to be valid during this call only.
    const OptionSpec spec{name, typeOf(type), defaultValue, help, choices};
    declareProgramOptions({owner, std::span(&spec, 1)});
  });
}

TenonErrorCode TenonOptionsOwnCommandLine(void) noexcept {
  return guard(__func__, [] {
    if (isInitialized())
      throw Error(TENON_ERR_STATE, "the command line has been read already; call this before "
                                   "TenonInitialize()");
    ownCommandLine();
  });
}

TenonErrorCode TenonOptionsSet(const char* key, const char* value) noexcept {
  return guard(__func__, [&] {
    // A NULL value means an option without a value, such as a flag that is on.
    options().set(textOf(key, "key"), value ? std::optional<std::string>(value) : std::nullopt);
  });
}

TenonErrorCode TenonOptionsInsertFile(const char* path) noexcept {
  return guard(__func__, [&] { options().insertFile(textOf(path, "path")); });
}

TenonErrorCode TenonOptionsGetFlag(const char* prefix, const char* name,
                                   TenonBool* value) noexcept {
  return guard(__func__, [&] {
    const OptionRequest option = requestOf(prefix, name, {OptionSpec::Flag});
    required(value, "value") = options().getFlag(option.prefix, option.name);
  });
}

TenonErrorCode TenonOptionsGetInt(const char* prefix, const char* name, TenonInt* value) noexcept {
  return guard(__func__, [&] {
    const OptionRequest option = requestOf(prefix, name, {OptionSpec::Int});
    required(value, "value") = options().getInt(option.prefix, option.name);
  });
}

TenonErrorCode TenonOptionsGetIntegers(const char* prefix, const char* name, TenonInt length,
                                       TenonInt values[], TenonInt* count) noexcept {
  return guard(__func__, [&] {
    const OptionRequest option = requestOf(prefix, name, {OptionSpec::Ints});
    const std::vector<Index> integers = options().getInts(option.prefix, option.name);
    if (count)
      *count = static_cast<TenonInt>(integers.size());
    // The count is returned even if the array is too short, so a caller can call again.
    copyUpTo(integers, length, values, fmt::format("the option '{}'", option.name));
  });
}

TenonErrorCode TenonOptionsGetReal(const char* prefix, const char* name, double* value) noexcept {
  return guard(__func__, [&] {
    const OptionRequest option = requestOf(prefix, name, {OptionSpec::Real});
    required(value, "value") = options().getReal(option.prefix, option.name);
  });
}

TenonErrorCode TenonOptionsGetString(const char* prefix, const char* name, char value[],
                                     TenonInt length, TenonInt* needed) noexcept {
  return guard(__func__, [&] {
    const OptionRequest option =
        requestOf(prefix, name, {OptionSpec::String, OptionSpec::Choice, OptionSpec::Word});
    copyText(options().getString(option.prefix, option.name), {value, length, needed}, "value");
  });
}

TenonErrorCode TenonOptionsHas(const char* prefix, const char* name, TenonBool* given) noexcept {
  return guard(__func__, [&] {
    const OptionRequest option = requestOf(prefix, name, kAnyType);
    required(given, "given") = options().lookup(option.prefix, option.name).has_value();
  });
}

TenonErrorCode TenonOptionsGetDeclaredCount(int* count) noexcept {
  return guard(__func__,
               [&] { required(count, "count") = static_cast<int>(optionDeclarations().size()); });
}

TenonErrorCode TenonOptionsGetDeclaredText(int index, TenonOptionText which, char text[],
                                           TenonInt length, TenonInt* needed) noexcept {
  return guard(__func__, [&] {
    copyText(textOf(declaration(index), which), {text, length, needed}, "text");
  });
}

TenonErrorCode TenonOptionsHelp(const char* word) noexcept {
  return guard(__func__, [&] { print(options().help(textOrEmpty(word))); });
}
