// SPDX-License-Identifier: BSD-2-Clause
// Changes of settings by calls (set(), setText()) and by options (setFromOptions()). Every change
// works on a copy, which the object then accepts or rejects as a whole (applySettings()). Thus an
// object never has inconsistent settings.
#include "sys/options/settable_object.hpp"

#include "sys/errors/error.hpp"
#include "sys/options/options.hpp"
#include "sys/text/view.hpp"

#include <fmt/format.h>

namespace tenon {

// Calls change(settings), which sets the setting of that name.
template <class Change>
void SettableObject::changeOne(std::string_view name, Change&& change) {
  checkChange(fmt::format("changing the setting \"{}\"", name));
  Settings after = settings();
  change(after);
  applySettings(std::move(after), {std::string(name)});
}

void SettableObject::set(std::string_view name, SettingValue value) {
  changeOne(name, [&](Settings& copy) { copy.set(name, std::move(value), owner()); });
}

void SettableObject::setText(std::string_view name, std::string_view text) {
  changeOne(name, [&](Settings& copy) { copy.setText(name, text, owner()); });
}

void SettableObject::setFromOptions() {
  checkChange("TenonObjectSetFromOptions()");
  // For the advice about unused options: the user can have taken the object's name for its prefix.
  if (!name().empty() && prefix() != name() + "_")
    options().noteOtherPrefix(name(), title(), prefix());
  Settings after = settings();
  const Settings::Names names = after.readOptions(prefix(), owner());
  if (names.empty())
    return;
  try {
    applySettings(std::move(after), names);
  } catch (const Error& error) {
    if (error.code() == TENON_ERR_STATE) // the values are valid, but too late
      throw;
    throw Error(TENON_ERR_OPTION, "the options do not fit: " + error.text());
  }
}

std::string SettableObject::describe() const {
  const std::string values = settings().describe();
  const char* between = values.empty() ? "" : type().empty() ? ": " : ", ";
  return Object::describe() + between + values;
}

} // namespace tenon
