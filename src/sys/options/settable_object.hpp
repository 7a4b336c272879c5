// SPDX-License-Identifier: BSD-2-Clause
// An object with settings: the common implementation of setting them by calls, options and
// containers. A derived class provides the tables, checks whether settings can still change
// (checkChange()), and in applySettings() checks their consistency and converts them to the values
// with which the object computes, so no step looks up a name. Objects without settings derive from
// Object.
#pragma once

#include "sys/errors/object.hpp"
#include "sys/options/settings.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace tenon {

class SettableObject : public Object {
public:
  using Object::Object;

  virtual const Settings& settings() const noexcept = 0;
  // The value, or the default. Throws TENON_ERR_TYPE for an unknown setting, and TENON_ERR_STATE if
  // it has no value. A class that stores values under names that the user chooses, such as a
  // checkpoint, overrides get(), isSet() and set().
  virtual SettingValue get(std::string_view name) const { return settings().get(name, owner()); }
  template <class T>
  T value(std::string_view name) const {
    return settings().value<T>(name, owner());
  }
  virtual bool isSet(std::string_view name) const { return settings().isSet(name, owner()); }
  // Sets one value. If it is invalid, no setting changes.
  virtual void set(std::string_view name, SettingValue value);
  void setText(std::string_view name, std::string_view text);
  // Reads -tenon_[prefix_]NAME for each setting. Throws TENON_ERR_OPTION for invalid values.
  virtual void setFromOptions();

  // Runs a setter. Its failure is also stored and thrown again by checkSets(), in the next
  // collective setup or use, unless the same setter has succeeded since.
  template <class Set>
  void specify(std::string_view what, Set&& set) {
    failedSets_.run(what, std::forward<Set>(set));
  }
  void checkSets() { failedSets_.check(); }
  // Class, type and settings, for a view.
  std::string describe() const override;

protected:
  Settings::Owner owner() const { return {title(), std::string(type())}; }
  // Throws TENON_ERR_STATE if settings can no longer change; `call` names the attempted change.
  virtual void checkChange(const std::string& call) const { static_cast<void>(call); }
  // Checks the settings as they will be after a change of `names`, stores them, and updates the
  // values derived from them. If it throws, nothing has changed.
  virtual void applySettings(Settings after, const Settings::Names& names) = 0;

private:
  template <class Change>
  void changeOne(std::string_view name, Change&& change);

  FailedSets failedSets_;
};

} // namespace tenon
