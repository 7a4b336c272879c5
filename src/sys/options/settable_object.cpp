// SPDX-License-Identifier: BSD-2-Clause
// All ways to change settings are one: the values are changed in a copy, which the object then
// takes over as a whole or refuses. So an object never holds settings that do not fit each other.
#include "sys/options/settable_object.hpp"

#include "sys/errors/error.hpp"
#include "sys/options/options.hpp"
#include "sys/text/view.hpp"

#include <fmt/format.h>

namespace tenon {

// change(settings) sets the one of that name.
template <class Change>
void SettableObject::changeOne(std::string_view name, Change&& change) {
  checkChange(fmt::format("changing the setting \"{}\"", name));
  Settings after = settings();
  change(after);
  takeOver(std::move(after), {std::string(name)});
}

void SettableObject::set(std::string_view name, SettingValue value) {
  changeOne(name, [&](Settings& after) { after.set(name, std::move(value), owner()); });
}

void SettableObject::setText(std::string_view name, std::string_view text) {
  changeOne(name, [&](Settings& after) { after.setText(name, text, owner()); });
}

void SettableObject::setFromOptions() {
  checkChange("TenonObjectSetFromOptions()");
  if (!name().empty() && prefix() != name() + "_")
    options().noteReader(name(), title(), prefix());
  Settings after = settings();
  const Settings::Names names = after.readOptions(prefix(), owner());
  if (names.empty())
    return;
  try {
    takeOver(std::move(after), names);
  } catch (const Error& error) {
    if (error.code() == TENON_ERR_STATE) // the values are right, but come too late
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
