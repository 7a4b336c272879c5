// SPDX-License-Identifier: BSD-2-Clause
// The settings of an object, declared once in tables: a name, the kind of value that it takes,
// default, bounds and help. Setters, options and files all write here, and a setting knows whether
// anybody has set it, so that a container fills only those that were left open.
//
// FailedSets remembers failures of setters for the next SetUp.
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

// A value, by kind: Flag, Int, Ints, Real, and one for String, Choice and Word.
using SettingValue = OneOf<bool, Index, std::vector<Index>, double, std::string>;

class Settings {
public:
  // The object in messages: `layer "conv1"`, of type "conv". The objects of some classes have no
  // types, and are called by their title alone.
  struct Owner {
    std::string title, type;
  };
  using Names = std::vector<std::string>;

  // The tables live as long as the settings.
  explicit Settings(const std::vector<std::span<const OptionSpec>>& tables);

  bool has(std::string_view name) const noexcept;
  bool isSet(std::string_view name) const;
  // Whether a setting was set; TENON_ERR_TYPE where there is no such setting.
  bool isSet(std::string_view name, const Owner& owner) const;
  // Sets a value. A whole number serves as a real one, and one integer as a list. Throws
  // TENON_ERR_TYPE if there is no such setting, naming the nearest, or if it is of another kind,
  // and TENON_ERR_ARG if the value is out of bounds.
  void set(std::string_view name, SettingValue value, const Owner& owner);
  // Sets a value from text, as it is written in an option.
  void setText(std::string_view name, std::string_view text, const Owner& owner);
  // Sets each setting for which the database has a value under this prefix, and returns their
  // names.
  Names readOptions(const std::string& prefix, const Owner& owner);
  // Takes over a value where none was set here; from other settings, only a value that was set
  // there.
  void inherit(std::string_view name, SettingValue value);
  void inherit(std::string_view name, const Settings& other);

  // The value, or the default; TENON_ERR_STATE where there is neither.
  SettingValue get(std::string_view name, const Owner& owner) const;
  // The value, or the default, without an owner for messages; none where there is neither.
  std::optional<SettingValue> find(std::string_view name) const;
  template <class T>
  std::optional<T> find(std::string_view name) const {
    const std::optional<SettingValue> found = find(name);
    return found ? std::optional<T>(std::get<T>(*found)) : std::nullopt;
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
  // These, where no other value is set than that of one name.
  Settings only(std::string_view name) const;
  // All settings that have a value, defaults included: "in_channels 3, kernel 3,3".
  std::string describe() const;

private:
  Entry* findEntry(std::string_view name) noexcept;
  const Entry* findEntry(std::string_view name) const noexcept;
  [[noreturn]] void throwUnknown(std::string_view name, const Owner& owner) const;

  std::vector<Entry> entries_;
};

// The text of a value, as it is written in options and files.
std::string settingText(const SettingValue& value);

// The failures of the setters of an object. A Set is local and can fail on one rank alone, and its
// caller may overlook that. So the object keeps the error, and its next SetUp, on which all ranks
// agree, fails with it, unless the same Set has succeeded since.
class FailedSets {
public:
  // `what` names the setter, and the thing that it sets where there are several:
  // "TenonLayoutSetCuts(0)".
  template <class Body>
  void run(std::string_view what, Body&& body) {
    try {
      std::forward<Body>(body)();
      if (const auto made = failures_.find(what); made != failures_.end())
        failures_.erase(made);
    } catch (...) {
      note(what, caughtError());
      throw;
    }
  }

  // Throws a failure that was not made good, and forgets all.
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
    } catch (...) { // no memory is left for its name
      unnamed_ = error;
    }
  }

  std::map<std::string, Error, std::less<>> failures_;
  std::optional<Error> unnamed_;
};

} // namespace tenon
