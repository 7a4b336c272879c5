// SPDX-License-Identifier: BSD-2-Clause
// An object with settings. Calls, options and containers set them here, whatever the class is. The
// class says which tables there are, until when they may change and what they must fulfil together,
// and it takes the values over when they change, so that no step looks up a name. Objects without
// settings are plain Objects and know nothing of this.
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
  // The value, or the default. Throws TENON_ERR_TYPE where there is no such setting and
  // TENON_ERR_STATE where it has no value.
  SettingValue get(std::string_view name) const { return settings().get(name, owner()); }
  template <class T>
  T value(std::string_view name) const {
    return settings().value<T>(name, owner());
  }
  bool isSet(std::string_view name) const { return settings().isSet(name, owner()); }
  // Sets one value. Where it does not fit, all settings stay as they were.
  void set(std::string_view name, SettingValue value);
  void setText(std::string_view name, std::string_view text);
  // Reads -tenon_[prefix_]NAME of each setting. TENON_ERR_OPTION for values that do not fit.
  virtual void setFromOptions();

  // Runs a setter that a call is made of. Its failure is kept for the next set-up or use on which
  // the ranks agree, which calls checkSets(), unless the same setter has succeeded since.
  template <class Set>
  void specify(std::string_view what, Set&& set) {
    failedSets_.run(what, std::forward<Set>(set));
  }
  void checkSets() { failedSets_.check(); }
  // Class, type and settings in a view.
  std::string describe() const override;

protected:
  // Classes without types are called by their title alone in messages.
  virtual bool hasTypes() const noexcept { return true; }
  Settings::Owner owner() const { return {title(), std::string(type()), hasTypes()}; }
  // Throws TENON_ERR_STATE where no setting may change any more; `call` is what would change one.
  virtual void checkChange(const std::string& call) const { static_cast<void>(call); }
  // Checks the settings as they will be after a change of these, keeps them, and reads from them
  // what the object computes with. Where it throws, nothing has changed.
  virtual void takeOver(Settings after, const Settings::Names& names) = 0;

private:
  template <class Change>
  void changeOne(std::string_view name, Change&& change);

  FailedSets failedSets_;
};

} // namespace tenon
