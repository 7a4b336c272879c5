// SPDX-License-Identifier: BSD-2-Clause
// The options database: five sources with fixed priorities, and lookups from the most specific key
// to the least. Every lookup records the requested key, so at the end unused options can be
// reported, with the probable spelling.
#include "sys/options/options.hpp"

#include "sys/errors/error.hpp"
#include "sys/files/part_file.hpp"
#include "sys/options/environment.hpp"
#include "sys/options/option_text.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

// The key of an option for an object with this prefix.
std::string keyOf(std::string_view prefix, std::string_view name) {
  if (prefix == kProgram)
    return fmt::format("-{}", name);
  const bool needsUnderscore = !prefix.empty() && prefix.back() != '_';
  return fmt::format("{}{}{}{}", kKeyStart, prefix, needsUnderscore ? "_" : "", name);
}

// The declarations of a name. An option that is read without a declaration, or as another type, is
// an error in the reading code; it is detected at the first lookup even if the option has no value.
std::vector<const OptionDeclaration*> declaredAs(std::string_view prefix, std::string_view name,
                                                 std::initializer_list<OptionSpec::Type> types) {
  auto declared = declarationsNamed(name, prefix == kProgram);
  if (declared.empty())
    throw Error(TENON_ERR_OPTION,
                fmt::format("option '{}' is read but not declared; declare it first", name));
  const auto type = declared.front()->type;
  if (types.size() > 0 && std::find(types.begin(), types.end(), type) == types.end())
    throw Error(TENON_ERR_OPTION,
                fmt::format("option '{}' is read as another type than declared, which is {}", name,
                            declared.front()->expected()));
  return declared;
}

// The default of an option. If several owners declare different defaults, none applies.
std::string defaultOf(std::string_view prefix, std::string_view name) {
  const auto declared = declaredAs(prefix, name, {});
  for (const auto* declaration : declared)
    if (declaration->defaultValue != declared.front()->defaultValue)
      throw Error(
          TENON_ERR_OPTION,
          fmt::format("option '{}' has no value, and its defaults in {} and {} differ; give "
                      "it a value",
                      keyOf(prefix, name), declared.front()->owner, declaration->owner));
  if (!declared.front()->hasDefault)
    throw Error(
        TENON_ERR_OPTION,
        fmt::format("option '{}' has neither a value nor a default; give it a value, or ask "
                    "first whether it has one",
                    keyOf(prefix, name)));
  return declared.front()->defaultValue;
}

// The value of an option in the type of the reading code. A key can match several declared names
// with different types or bounds (see option_tables.cpp), and only the lookup determines which of
// them is meant. A value must be valid for one of them when its source is read, and for this one
// here.
template <class T>
T parsed(const OptionValue& value, std::optional<T> result,
         const std::vector<const OptionDeclaration*>& declared) {
  const bool isAccepted =
      std::any_of(declared.begin(), declared.end(),
                  [&](const auto* declaration) { return declaration->accepts(value.text); });
  if (result && isAccepted)
    return *result;
  throw Error(TENON_ERR_OPTION,
              fmt::format("option '{}' has value '{}' ({}); expected {}", value.key, value.text,
                          value.place, declared.front()->expected()));
}

template <class T>
T parsedDefault(std::string_view name, const std::string& text, std::optional<T> result) {
  if (result)
    return *result;
  throw Error(TENON_ERR_INTERNAL,
              fmt::format("option '{}' has default '{}', which is not a value of "
                          "its type",
                          name, text));
}

} // namespace

OptionDatabase& options() {
  // Never destroyed, since objects owned by static objects can still read options.
  static auto* database = new OptionDatabase;
  return *database;
}

std::vector<std::string> OptionDatabase::load(int argc, const char* const* argv) {
  auto values = readEnvironment(environment("TENON_OPTIONS").value_or(""));
  auto line = readCommandLine(argc, argv);
  values.insert(values.end(), line.values.begin(), line.values.end());
  // The last value counts, as for any other option.
  const auto file = std::find_if(values.rbegin(), values.rend(), [](const auto& value) {
    return value.key == "-tenon_options_file";
  });
  if (file != values.rend()) {
    const std::string path = file->text;
    const auto fromFile = readFileText(readWholeFile(path, "options file"), path);
    values.insert(values.end(), fromFile.begin(), fromFile.end());
  }
  // All sources are read and checked before any value is stored: an error changes nothing.
  commit(values);
  // Marks the option as used, to exclude it from the report of unused options.
  lookup("", "options_file");
  return line.rest;
}

void OptionDatabase::insertFile(const std::string& path) {
  insertFileText(readWholeFile(path, "options file"), path);
}

void OptionDatabase::insertFileText(std::string_view text, const std::string& path) {
  commit(readFileText(text, path));
}

void OptionDatabase::set(const std::string& key, const std::optional<std::string>& value) {
  if (!looksLikeKey(key))
    throw Error(TENON_ERR_OPTION,
                fmt::format("'{}' is not an option; expected a key such as -tenon_verbose", key));
  commit({checkedValue(key, value, OptionSource::Call, "call")});
}

void OptionDatabase::clear() {
  std::lock_guard lock(mutex_);
  entries_.clear();
  requested_.clear();
  otherPrefixes_.clear();
}

void OptionDatabase::commit(const std::vector<OptionValue>& values) {
  std::lock_guard lock(mutex_);
  for (const auto& value : values) {
    Entry& entry = entries_[value.key];
    const bool isNew = entry.value.key.empty();
    // Of two values from the same source the later one applies.
    if (isNew || entry.value.source <= value.source)
      entry = {value, entry.used};
  }
}

std::optional<OptionValue> OptionDatabase::lookup(std::string_view prefix,
                                                  std::string_view name) const {
  declaredAs(prefix, name, {});
  const std::string key = keyOf(prefix, name);
  std::lock_guard lock(mutex_);
  requested_.emplace(key, name);
  auto entry = entries_.find(key);
  // If there is no value for this object, the value for all objects applies.
  if (entry == entries_.end() && prefix != kProgram)
    entry = entries_.find(keyOf("", name));
  if (entry == entries_.end())
    return std::nullopt;
  entry->second.used = true;
  return entry->second.value;
}

std::optional<bool> OptionDatabase::findFlag(std::string_view prefix, std::string_view name) const {
  const auto declared = declaredAs(prefix, name, {OptionSpec::Flag});
  const auto value = lookup(prefix, name);
  if (!value)
    return std::nullopt;
  return parsed(*value, parseFlag(value->text), declared);
}

std::optional<Index> OptionDatabase::findInt(std::string_view prefix, std::string_view name) const {
  const auto declared = declaredAs(prefix, name, {OptionSpec::Int});
  const auto value = lookup(prefix, name);
  if (!value)
    return std::nullopt;
  return parsed(*value, parseInt(value->text), declared);
}

std::optional<std::vector<Index>> OptionDatabase::findInts(std::string_view prefix,
                                                           std::string_view name) const {
  const auto declared = declaredAs(prefix, name, {OptionSpec::Ints});
  const auto value = lookup(prefix, name);
  if (!value)
    return std::nullopt;
  return parsed(*value, parseInts(value->text), declared);
}

std::optional<double> OptionDatabase::findReal(std::string_view prefix,
                                               std::string_view name) const {
  const auto declared = declaredAs(prefix, name, {OptionSpec::Real});
  const auto value = lookup(prefix, name);
  if (!value)
    return std::nullopt;
  return parsed(*value, parseReal(value->text), declared);
}

std::optional<std::string> OptionDatabase::findString(std::string_view prefix,
                                                      std::string_view name) const {
  declaredAs(prefix, name, {OptionSpec::String, OptionSpec::Choice, OptionSpec::Word});
  const auto value = lookup(prefix, name);
  if (!value)
    return std::nullopt;
  return value->text;
}

std::optional<std::string> OptionDatabase::findChoice(std::string_view prefix,
                                                      std::string_view name) const {
  declaredAs(prefix, name, {OptionSpec::Choice});
  return findString(prefix, name);
}

bool OptionDatabase::getFlag(std::string_view prefix, std::string_view name) const {
  if (const auto value = findFlag(prefix, name))
    return *value;
  const auto text = defaultOf(prefix, name);
  return parsedDefault(name, text, parseFlag(text));
}

Index OptionDatabase::getInt(std::string_view prefix, std::string_view name) const {
  if (const auto value = findInt(prefix, name))
    return *value;
  const auto text = defaultOf(prefix, name);
  return parsedDefault(name, text, parseInt(text));
}

std::vector<Index> OptionDatabase::getInts(std::string_view prefix, std::string_view name) const {
  if (const auto value = findInts(prefix, name))
    return *value;
  const auto text = defaultOf(prefix, name);
  return parsedDefault(name, text, parseInts(text));
}

double OptionDatabase::getReal(std::string_view prefix, std::string_view name) const {
  if (const auto value = findReal(prefix, name))
    return *value;
  const auto text = defaultOf(prefix, name);
  return parsedDefault(name, text, parseReal(text));
}

std::string OptionDatabase::getString(std::string_view prefix, std::string_view name) const {
  if (const auto value = findString(prefix, name))
    return *value;
  return defaultOf(prefix, name);
}

std::string OptionDatabase::getChoice(std::string_view prefix, std::string_view name) const {
  if (const auto value = findChoice(prefix, name))
    return *value;
  return defaultOf(prefix, name);
}

std::vector<OptionValue> OptionDatabase::unused() const {
  std::lock_guard lock(mutex_);
  std::vector<OptionValue> unusedValues;
  for (const auto& [key, entry] : entries_)
    if (!entry.used)
      unusedValues.push_back(entry.value);
  return unusedValues;
}

std::string OptionDatabase::nearestAsked(std::string_view key) const {
  const auto matching = declarationsOf(key);
  std::lock_guard lock(mutex_);
  std::vector<std::string> candidates;
  for (const auto& requested : requested_)
    if (std::any_of(matching.begin(), matching.end(),
                    [&](const auto* declaration) { return declaration->name == requested.second; }))
      candidates.push_back(requested.first);
  return nearest(key, candidates);
}

void OptionDatabase::noteOtherPrefix(const std::string& name, const std::string& title,
                                     const std::string& prefix) const {
  std::lock_guard lock(mutex_);
  otherPrefixes_[name] = {title, prefix};
}

std::string OptionDatabase::adviceOn(std::string_view key) const {
  {
    std::lock_guard lock(mutex_);
    for (const auto& [name, object] : otherPrefixes_)
      if (const std::string prefix = name + "_"; key.starts_with(keyOf(prefix, "")))
        return object.prefix.empty()
                   ? fmt::format("{} has no options prefix, and its name is not one; set it by "
                                 "TenonObjectSetOptionsPrefix(object, \"{}\")",
                                 object.title, prefix)
                   : fmt::format("the options of {} begin with {}", object.title,
                                 keyOf(object.prefix, ""));
    // It is unused in spite of that: whoever read it had already done so when it was set.
    if (requested_.contains(std::string(key)))
      return "it was set after it had been read";
  }
  const std::string meant = nearestAsked(key);
  return meant.empty() ? "no object reads its options under such a name"
                       : fmt::format("did you mean {}?", meant);
}

std::vector<OptionValue> OptionDatabase::values() const {
  std::lock_guard lock(mutex_);
  std::vector<OptionValue> result;
  for (const auto& [key, entry] : entries_)
    result.push_back(entry.value);
  return result;
}

// Texts of -help and -tenon_help: the declared options by owner, with their defaults, values and
// sources.

namespace {

bool contains(const std::string& text, const std::string& loweredWord) {
  return lowered(text).find(loweredWord) != std::string::npos;
}

// Whether the help about a word includes this option.
bool isAbout(const OptionDeclaration& declared, const std::string& loweredWord) {
  return contains(declared.name, loweredWord) || contains(declared.owner, loweredWord) ||
         contains(declared.help, loweredWord);
}

// Whether a value can be one of this option, with any prefix.
bool concerns(const OptionValue& value, const OptionDeclaration& declared) {
  const auto matching = declarationsOf(value.key);
  return std::find(matching.begin(), matching.end(), &declared) != matching.end();
}

std::string helpOf(const OptionDeclaration& declared, const std::vector<OptionValue>& values) {
  std::string text = fmt::format("  {}\n      {} (default: {})\n", declared.usage(), declared.help,
                                 declared.defaultValue.empty() ? "none" : declared.defaultValue);
  for (const auto& value : values)
    if (concerns(value, declared))
      text += fmt::format("      now: {} {} ({})\n", value.key, value.text, value.place);
  return text;
}

} // namespace

std::string OptionDatabase::programHelp() const {
  const auto currentValues = values();
  std::string text;
  for (const auto* declaration : optionDeclarations())
    if (declaration->isProgram)
      text += helpOf(*declaration, currentValues);
  return text + "The options of Tenon are listed by -tenon_help, those about a word by "
                "-tenon_help word.\n";
}

std::string OptionDatabase::help(std::string_view word) const {
  auto declared = optionDeclarations();
  const std::string loweredWord = lowered(word);
  std::erase_if(declared,
                [&](const auto* declaration) { return !isAbout(*declaration, loweredWord); });
  if (declared.empty())
    return fmt::format("No option contains '{}'.\n", word);
  std::stable_sort(declared.begin(), declared.end(), [](const auto* a, const auto* b) {
    if (a->isProgram != b->isProgram)
      return a->isProgram;
    return a->owner < b->owner;
  });
  const auto currentValues = values();
  std::string text;
  std::string owner;
  for (const auto* declaration : declared) {
    if (declaration->owner != owner)
      text += declaration->owner + "\n";
    owner = declaration->owner;
    text += helpOf(*declaration, currentValues);
  }
  return text;
}

} // namespace tenon
