// SPDX-License-Identifier: BSD-2-Clause
// The settings of objects by their names, whatever the class. Each call is local; a failure of a
// setter is kept by the object, whose next set-up, or use on which the ranks agree, fails with it
// on all of them.
#include "capi/arguments.hpp"
#include "sys/options/settable_object.hpp"

#include <tenon/object.h>

#include <algorithm>
#include <functional>

using namespace tenon;

namespace {

SettableObject& settable(TenonObject handle) {
  Object& object = derefObject(handle, "object", "handle of a class with settings");
  if (auto* found = dynamic_cast<SettableObject*>(&object))
    return *found;
  throw Error(TENON_ERR_TYPE,
              fmt::format("{} is of class {}, which has no settings; layers, optimizers, "
                          "datasets, checkpoints, series of fields and plans have",
                          object.title(), object.className()));
}

// A setter of one setting, whose failure is made good only by the same setter of that setting. The
// value is made inside, so that a wrong one is remembered too.
TenonErrorCode setByName(const char* function, TenonObject handle, const char* name,
                         const std::function<SettingValue()>& value) {
  return guard(function, [&] {
    SettableObject& object = settable(handle);
    const std::string setting = textOf(name, "name");
    object.specify(fmt::format("{}(\"{}\")", function, setting),
                   [&] { object.set(setting, value()); });
  });
}

template <class T>
T getByName(TenonObject handle, const char* name, const char* kind) {
  const SettableObject& object = settable(handle);
  const std::string setting = textOf(name, "name");
  SettingValue value = object.get(setting);
  if (auto* found = std::get_if<T>(&value))
    return std::move(*found);
  throw Error(TENON_ERR_TYPE, fmt::format("the setting '{}' of {} is \"{}\", which is not {}",
                                          setting, object.title(), settingText(value), kind));
}

} // namespace

TenonErrorCode TenonObjectSetIntegers(TenonObject object, const char* name, TenonInt length,
                                      const TenonInt values[]) noexcept {
  return setByName(__func__, object, name, [&]() -> SettingValue {
    constexpr TenonInt kLongest = 1 << 30; // what an int holds; no setting is as long
    return listOf(values, static_cast<int>(std::min(length, kLongest)), "values");
  });
}

TenonErrorCode TenonObjectSetReal(TenonObject object, const char* name, double value) noexcept {
  return setByName(__func__, object, name, [&]() -> SettingValue { return value; });
}

TenonErrorCode TenonObjectSetText(TenonObject object, const char* name, const char* text) noexcept {
  return setByName(__func__, object, name, [&]() -> SettingValue { return textOf(text, "text"); });
}

TenonErrorCode TenonObjectSetBool(TenonObject object, const char* name, TenonBool value) noexcept {
  return setByName(__func__, object, name, [&]() -> SettingValue { return value != TENON_FALSE; });
}

TenonErrorCode TenonObjectSetFromOptions(TenonObject object) noexcept {
  return guard(__func__, [&] {
    SettableObject& known = settable(object);
    known.specify("TenonObjectSetFromOptions", [&] { known.setFromOptions(); });
  });
}

TenonErrorCode TenonObjectGetIntegers(TenonObject object, const char* name, TenonInt length,
                                      TenonInt values[], TenonInt* count) noexcept {
  return guard(__func__, [&] {
    const SettableObject& known = settable(object);
    const std::string setting = textOf(name, "name");
    const bool isOne = std::holds_alternative<Index>(known.get(setting));
    const std::vector<Index> found =
        isOne ? std::vector<Index>{getByName<Index>(object, name, "an integer")}
              : getByName<std::vector<Index>>(object, name, "a list of integers");
    if (count)
      *count = static_cast<TenonInt>(found.size());
    copyUpTo(found, length, values, fmt::format("the setting '{}' of {}", setting, known.title()));
  });
}

TenonErrorCode TenonObjectGetReal(TenonObject object, const char* name, double* value) noexcept {
  return guard(__func__, [&] {
    required(value, "value") = getByName<double>(object, name, "a real number");
  });
}

TenonErrorCode TenonObjectGetText(TenonObject object, const char* name, char text[],
                                  TenonInt length, TenonInt* needed) noexcept {
  return guard(__func__, [&] {
    copyText(getByName<std::string>(object, name, "text"), {text, length, needed}, "text");
  });
}

TenonErrorCode TenonObjectGetBool(TenonObject object, const char* name, TenonBool* value) noexcept {
  return guard(__func__, [&] {
    required(value, "value") =
        getByName<bool>(object, name, "true or false") ? TENON_TRUE : TENON_FALSE;
  });
}

TenonErrorCode TenonObjectIsSet(TenonObject object, const char* name, TenonBool* isSet) noexcept {
  return guard(__func__, [&] {
    const bool found = settable(object).isSet(textOf(name, "name"));
    required(isSet, "isSet") = found ? TENON_TRUE : TENON_FALSE;
  });
}
