// SPDX-License-Identifier: BSD-2-Clause
// The calls of the option database. Inside the library, reading an option that no table declares is
// a fault of the library; here it is a mistake of the caller's, so names and types are checked
// before the database is asked.
#include "sys/options/options.hpp"

#include "capi/arguments.hpp"
#include "comm/session/session.hpp"
#include "sys/errors/guard.hpp"
#include "sys/text/output.hpp"

#include <tenon/options.h>

#include <algorithm>
#include <optional>
#include <span>

namespace tenon {
namespace {

using Types = std::initializer_list<OptionSpec::Type>;

const Types kAnyType{OptionSpec::Flag,   OptionSpec::Int,  OptionSpec::Real, OptionSpec::String,
                     OptionSpec::Choice, OptionSpec::Word, OptionSpec::Ints};

struct OptionRequest {
  std::string prefix, name;
};

// The option that a program asks for, once it is known to be declared and to have one of these
// types.
OptionRequest requestOf(const char* prefix, const char* name, const Types& types) {
  OptionRequest option{textOrEmpty(prefix), textOf(name, "name")};
  // Options of the program itself have no prefix of the library, and another list of declarations.
  const bool isProgram = option.prefix == kProgram;
  const auto declared = declarationsNamed(option.name, isProgram);
  const std::string key =
      isProgram ? "-" + option.name : fmt::format("{}{}", kKeyStart, option.name);
  // The most likely slip has a message of its own: the library's option asked for as the program's.
  if (declared.empty() && isProgram && !declarationsOf(key).empty())
    throw Error(TENON_ERR_OPTION,
                fmt::format("option {} is the library's, not the program's; pass NULL for prefix, "
                            "and the name without {}",
                            key, kKeyStart));
  if (declared.empty())
    throw Error(TENON_ERR_OPTION,
                fmt::format("option {} is not declared; did you mean {}?", key, nearestKey(key)));
  // Declarations of one name have one type, so that the first one stands for all.
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
  // The list may have grown since the caller asked for its length, but never shrinks.
  const auto all = optionDeclarations();
  if (index < 0 || index >= static_cast<int>(all.size()))
    throw Error(TENON_ERR_ARG, fmt::format("option index {} is out of range; it must be in 0 to {}",
                                           index, all.size() - 1));
  return *all[index];
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
    // The declaration copies the texts, so that they may be the caller's own for this call.
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
    // NULL is an option without a value, such as a flag that is on.
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
    const std::vector<Index> found = options().getInts(option.prefix, option.name);
    if (count)
      *count = static_cast<TenonInt>(found.size());
    // The count comes first: a caller may ask for it with no room at all, and then with enough.
    copyUpTo(found, length, values, fmt::format("the option '{}'", option.name));
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
