// SPDX-License-Identifier: BSD-2-Clause
// Checks and stores the values of settings. Every way to set a value ends in set(), which first
// converts it to the declared kind, so a value has the same representation from every source.
#include "sys/options/settings.hpp"

#include "sys/errors/error.hpp"
#include "sys/options/option_text.hpp"
#include "sys/options/options.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tenon {

namespace {

// Names of the kinds of values in messages.
const char* kindText(OptionSpec::Type type) {
  switch (type) {
  case OptionSpec::Flag:
    return "true or false";
  case OptionSpec::Int:
    return "an integer";
  case OptionSpec::Ints:
    return "integers";
  case OptionSpec::Real:
    return "a real number";
  default:
    return "text";
  }
}

// The value of a text, or nothing if the text is not a value of that kind.
std::optional<SettingValue> parsed(OptionSpec::Type type, std::string_view text) {
  const auto asValue = [](auto&& result) {
    return result ? std::optional<SettingValue>(*result) : std::nullopt;
  };
  switch (type) {
  case OptionSpec::Flag:
    return asValue(parseFlag(text));
  case OptionSpec::Int:
    return asValue(parseInt(text));
  case OptionSpec::Ints:
    return asValue(parseInts(text));
  case OptionSpec::Real:
    return asValue(parseReal(text));
  default:
    return SettingValue(std::string(text));
  }
}

// Index of the alternative of SettingValue for this kind, in the order of its types.
std::size_t alternativeOf(OptionSpec::Type type) {
  switch (type) {
  case OptionSpec::Flag:
    return 0;
  case OptionSpec::Int:
    return 1;
  case OptionSpec::Ints:
    return 2;
  case OptionSpec::Real:
    return 3;
  default:
    return 4;
  }
}

// The value converted to the declared kind, if that is exact: C has separate calls for integers,
// lists and real numbers, and 3 is a valid list and a valid real number.
SettingValue widened(OptionSpec::Type type, SettingValue value) {
  const auto* integer = std::get_if<Index>(&value);
  const auto* list = std::get_if<std::vector<Index>>(&value);
  if (type == OptionSpec::Real && integer)
    return static_cast<double>(*integer);
  if (type == OptionSpec::Ints && integer)
    return std::vector<Index>{*integer};
  if (type == OptionSpec::Int && list && list->size() == 1)
    return list->front();
  return value;
}

std::string expectedOf(const OptionSpec& spec) {
  const std::string interval = spec.bounds.describe();
  if (spec.type == OptionSpec::Choice)
    return fmt::format("one of {}", spec.choices);
  return fmt::format("{}{}{}",
                     kindText(spec.type == OptionSpec::Ints ? OptionSpec::Int : spec.type),
                     interval.empty() ? "" : " ", interval);
}

// `layer "conv1" of type conv`, or `the dataset` if the class has no types.
std::string ownerText(const Settings::Owner& owner) {
  return owner.type.empty() ? owner.title : fmt::format("{} of type {}", owner.title, owner.type);
}

// Checks the bounds of a number; `name` includes the index for an entry of a list.
void checkNumber(const OptionSpec& spec, double value, const std::string& name,
                 const Settings::Owner& owner) {
  if (!std::isfinite(value))
    throw Error(TENON_ERR_ARG,
                fmt::format("{} is {}, but {} takes a finite number", name, value, owner.title));
  if (!spec.bounds.contain(value))
    throw Error(TENON_ERR_ARG, fmt::format("{} is {}, but {} takes {}", name, value, owner.title,
                                           expectedOf(spec)));
}

void check(const OptionSpec& spec, const SettingValue& value, const Settings::Owner& owner) {
  if (const auto* integer = std::get_if<Index>(&value))
    checkNumber(spec, static_cast<double>(*integer), spec.name, owner);
  if (const auto* real = std::get_if<double>(&value))
    checkNumber(spec, *real, spec.name, owner);
  if (const auto* list = std::get_if<std::vector<Index>>(&value)) {
    if (list->empty())
      throw Error(TENON_ERR_ARG, fmt::format("{} of {} has no numbers; pass at least one",
                                             spec.name, owner.title));
    for (std::size_t i = 0; i < list->size(); ++i)
      checkNumber(spec, static_cast<double>((*list)[i]), fmt::format("{}[{}]", spec.name, i),
                  owner);
  }
  if (spec.type != OptionSpec::Choice)
    return;
  const auto& word = std::get<std::string>(value);
  const std::vector<std::string> choices = split(spec.choices, '|');
  if (std::ranges::find(choices, word) == choices.end())
    throw Error(TENON_ERR_TYPE,
                fmt::format("{} of {} is '{}'; the nearest is '{}', the choices are {}", spec.name,
                            owner.title, word, nearest(word, choices), joined(choices)));
}

} // namespace

std::string settingText(const SettingValue& value) {
  return std::visit(
      [](const auto& alternative) -> std::string {
        using Alternative = std::decay_t<decltype(alternative)>;
        if constexpr (std::is_same_v<Alternative, std::vector<Index>>)
          return fmt::format("{}", fmt::join(alternative, ","));
        else
          return fmt::format("{}", alternative);
      },
      value);
}

Settings::Settings(const std::vector<std::span<const OptionSpec>>& tables) {
  for (const auto& table : tables)
    for (const OptionSpec& spec : table)
      entries_.push_back({.spec = &spec, .value = {}, .isInherited = false});
}

const Settings::Entry* Settings::findEntry(std::string_view name) const noexcept {
  for (const Entry& entry : entries_)
    if (entry.spec->name == name)
      return &entry;
  return nullptr;
}

Settings::Entry* Settings::findEntry(std::string_view name) noexcept {
  return const_cast<Entry*>(std::as_const(*this).findEntry(name));
}

bool Settings::has(std::string_view name) const noexcept {
  return findEntry(name) != nullptr;
}

bool Settings::isSet(std::string_view name) const {
  const Entry* entry = findEntry(name);
  return entry && entry->value;
}

bool Settings::isSet(std::string_view name, const Owner& owner) const {
  if (!has(name))
    throwUnknown(name, owner);
  return isSet(name);
}

void Settings::throwUnknown(std::string_view name, const Owner& owner) const {
  std::vector<std::string> names;
  for (const Entry& entry : entries_)
    names.emplace_back(entry.spec->name);
  throw Error(TENON_ERR_TYPE,
              fmt::format("{} has no setting '{}'; the nearest is '{}', the settings are {}",
                          ownerText(owner), name, nearest(std::string(name), names),
                          joined(names)));
}

void Settings::set(std::string_view name, SettingValue value, const Owner& owner) {
  Entry* entry = findEntry(name);
  if (!entry)
    throwUnknown(name, owner);
  value = widened(entry->spec->type, std::move(value));
  if (value.index() != alternativeOf(entry->spec->type))
    throw Error(TENON_ERR_TYPE,
                fmt::format("the setting '{}' of {} takes {}, but was given {}", name, owner.title,
                            kindText(entry->spec->type), settingText(value)));
  check(*entry->spec, value, owner);
  entry->value = std::move(value);
  entry->isInherited = false;
}

void Settings::setText(std::string_view name, std::string_view text, const Owner& owner) {
  const Entry* entry = findEntry(name);
  if (!entry)
    throwUnknown(name, owner);
  auto value = parsed(entry->spec->type, text);
  if (!value)
    throw Error(TENON_ERR_ARG, fmt::format("the setting '{}' of {} takes {}, but was given '{}'",
                                           name, owner.title, kindText(entry->spec->type), text));
  set(name, std::move(*value), owner);
}

Settings::Names Settings::readOptions(const std::string& prefix, const Owner& owner) {
  Names names;
  for (const Entry& entry : entries_) {
    const auto option = options().lookup(prefix, entry.spec->name);
    if (!option)
      continue;
    names.emplace_back(entry.spec->name);
    try {
      setText(entry.spec->name, option->text, owner);
    } catch (const Error& error) {
      // The user wrote an option, so the message begins with it and its place.
      throw Error(TENON_ERR_OPTION,
                  fmt::format("option '{}' ({}): {}", option->key, option->place, error.text()));
    }
  }
  return names;
}

void Settings::inherit(std::string_view name, SettingValue value) {
  Entry* entry = findEntry(name);
  // The container does not replace a value that was set by a call or an option.
  if (!entry || entry->value)
    return;
  entry->value = std::move(value);
  entry->isInherited = true;
}

void Settings::inherit(std::string_view name, const Settings& other) {
  const Entry* from = other.findEntry(name);
  if (from && from->value)
    inherit(name, *from->value);
}

std::optional<SettingValue> Settings::find(std::string_view name) const {
  const Entry* entry = findEntry(name);
  // A default is stored as the text of its declaration and converted here, not in `value`: isSet()
  // is thus whether `value` has a value.
  if (!entry || entry->value || !entry->spec->defaultValue)
    return entry ? entry->value : std::nullopt;
  return parsed(entry->spec->type, entry->spec->defaultValue);
}

SettingValue Settings::get(std::string_view name, const Owner& owner) const {
  if (!has(name))
    throwUnknown(name, owner);
  if (auto value = find(name))
    return std::move(*value);
  throw Error(TENON_ERR_STATE,
              fmt::format("the setting '{}' of {} has no value and no default; set it", name,
                          ownerText(owner)));
}

Settings Settings::only(std::string_view name) const {
  Settings copy = *this;
  for (Entry& entry : copy.entries_)
    if (name != entry.spec->name)
      entry.value.reset();
  return copy;
}

std::string Settings::describe() const {
  std::vector<std::string> texts;
  for (const Entry& entry : entries_)
    if (const auto value = find(entry.spec->name))
      texts.push_back(fmt::format("{} {}", entry.spec->name, settingText(*value)));
  return joined(texts);
}

} // namespace tenon
