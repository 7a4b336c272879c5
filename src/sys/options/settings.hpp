// SPDX-License-Identifier: BSD-2-Clause
// The settings of an object, declared once in tables: name, kind of value, default, bounds and
// help. Setters of the API, options and files all set values here. A setting records whether it was
// set explicitly; a container of layers passes its own values on only to settings that were not.
// For example, with the table {{"stride", OptionSpec::Ints, "1", "step of the kernel"}}:
//
//   settings.setText("stride", "2,2", owner);
//   settings.value<std::vector<Index>>("stride", owner)    // {2, 2}
#pragma once

#include "sys/errors/error.hpp"
#include "sys/options/one_of.hpp"
#include "sys/options/option_tables.hpp"
#include "sys/types.hpp"

#include <fmt/format.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon {

// A value, by kind: Flag, Int, Ints, Real, and a string for String, Choice and Word.
using SettingValue = OneOf<bool, Index, std::vector<Index>, double, std::string>;

class Settings {
public:
  // Description of the object in messages: title `layer "conv1"` and type "conv". Classes without
  // types have an empty type.
  struct Owner {
    std::string title, type;
  };
  using Names = std::vector<std::string>;

  // The tables must outlive the settings.
  explicit Settings(const std::vector<std::span<const OptionSpec>>& tables);

  bool has(std::string_view name) const noexcept;
  bool isSet(std::string_view name) const;
  // Whether a setting was set. Throws TENON_ERR_TYPE for an unknown setting.
  bool isSet(std::string_view name, const Owner& owner) const;
  // Sets a value. An integer is accepted as a real number, and as a list of one. Throws
  // TENON_ERR_TYPE, with the nearest name, for an unknown setting or a value of another kind, and
  // TENON_ERR_ARG if the value is out of bounds.
  void set(std::string_view name, SettingValue value, const Owner& owner);
  // Sets a value from text, in the syntax of options.
  void setText(std::string_view name, std::string_view text, const Owner& owner);
  // Sets each setting for which the options database has a value under this prefix. Returns their
  // names.
  Names readOptions(const std::string& prefix, const Owner& owner);
  // Sets a value unless one was set explicitly. The second form copies only a value that was set
  // explicitly in `other`.
  void inherit(std::string_view name, SettingValue value);
  void inherit(std::string_view name, const Settings& other);

  // The value, or the default. Throws TENON_ERR_STATE if there is neither.
  SettingValue get(std::string_view name, const Owner& owner) const;
  // The value, or the default; nothing if there is neither.
  std::optional<SettingValue> find(std::string_view name) const;
  template <class T>
  std::optional<T> find(std::string_view name) const {
    const std::optional<SettingValue> value = find(name);
    return value ? std::optional<T>(std::get<T>(*value)) : std::nullopt;
  }
  template <class T>
  T value(std::string_view name, const Owner& owner) const {
    return std::get<T>(get(name, owner));
  }

  struct Entry {
    const OptionSpec* spec;
    std::optional<SettingValue> value; // as it was set
    bool isInherited = false;
  };
  const std::vector<Entry>& entries() const noexcept { return entries_; }
  // A copy in which only the setting of this name retains its value.
  Settings only(std::string_view name) const;
  // All settings with a value, defaults included: "in_channels 3, kernel 3,3".
  std::string describe() const;

private:
  Entry* findEntry(std::string_view name) noexcept;
  const Entry* findEntry(std::string_view name) const noexcept;
  [[noreturn]] void throwUnknown(std::string_view name, const Owner& owner) const;

  std::vector<Entry> entries_;
};

// The text of a value in the syntax of options and files.
std::string settingText(const SettingValue& value);

// Failures of the setters of an object. A setter is local: it can fail on one rank only, and its
// caller can ignore the error. So the object stores the error, and its next SetUp, which is
// collective, fails with it, unless the same setter has succeeded since.
class FailedSets {
public:
  // `what` names the setter, with the item that it sets if there are several:
  // "TenonLayoutSetCuts(0)".
  template <class Body>
  void run(std::string_view what, Body&& body) {
    try {
      std::forward<Body>(body)();
      if (const auto failure = failures_.find(what); failure != failures_.end())
        failures_.erase(failure);
    } catch (...) {
      note(what, caughtError());
      throw;
    }
  }

  // Throws a stored failure, and clears all.
  void check() {
    if (const auto unnamed = std::exchange(unnamed_, std::nullopt))
      throw Error(*unnamed);
    if (failures_.empty())
      return;
    const auto failures = std::exchange(failures_, {});
    const auto& [what, error] = *failures.begin();
    throw Error(error.code(), fmt::format("an earlier {} failed: {}", what, error.text()),
                error.where());
  }

private:
  void note(std::string_view what, const Error& error) noexcept {
    try {
      failures_.insert_or_assign(std::string(what), error);
    } catch (...) { // no memory for its name
      unnamed_ = error;
    }
  }

  std::map<std::string, Error, std::less<>> failures_;
  std::optional<Error> unnamed_;
};

} // namespace tenon
