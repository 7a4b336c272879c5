// SPDX-License-Identifier: BSD-2-Clause
// Settings by name, for all classes that have settings (SettableObject). The calls are local. The
// object stores the failure of a setter, and its next collective set-up or use returns it on all
// ranks: a setter that fails on one rank only does not lead to different objects. The calls are
// declared in tenon/object.h.
#include "capi/arguments.hpp"
#include "sys/options/settable_object.hpp"

#include <tenon/object.h>

#include <algorithm>
#include <functional>

using namespace tenon;

namespace {

// The object behind a handle. Throws TENON_ERR_TYPE if its class has no settings.
SettableObject& settable(TenonObject handle) {
  Object& object = derefObject(handle, "object", "handle of a class with settings");
  if (auto* settableObject = dynamic_cast<SettableObject*>(&object))
    return *settableObject;
  throw Error(TENON_ERR_TYPE,
              fmt::format("{} is of class {}, which has no settings; layers, optimizers, "
                          "datasets, checkpoints, series of fields and plans have",
                          object.title(), object.className()));
}

// The body of a setter. The stored failure is cleared only by a later success of the same call for
// the same setting. value() is called inside specify(), so an invalid argument, such as a NULL
// list, is stored as well.
TenonErrorCode setByName(const char* function, TenonObject handle, const char* name,
                         const std::function<SettingValue()>& value) {
  return guard(function, [&] {
    SettableObject& object = settable(handle);
    const std::string setting = textOf(name, "name");
    object.specify(fmt::format("{}(\"{}\")", function, setting),
                   [&] { object.set(setting, value()); });
  });
}

// The value of a setting, its default included, which must have the type T; `kind` names the type.
template <class T>
T getByName(TenonObject handle, const char* name, const char* kind) {
  const SettableObject& object = settable(handle);
  const std::string setting = textOf(name, "name");
  SettingValue value = object.get(setting);
  if (auto* typed = std::get_if<T>(&value))
    return std::move(*typed);
  throw Error(TENON_ERR_TYPE, fmt::format("the setting '{}' of {} is \"{}\", which is not {}",
                                          setting, object.title(), settingText(value), kind));
}

} // namespace

TenonErrorCode TenonObjectSetIntegers(TenonObject object, const char* name, TenonInt length,
                                      const TenonInt values[]) noexcept {
  return setByName(__func__, object, name, [&]() -> SettingValue {
    constexpr TenonInt kLongest = 1 << 30; // fits into an int, and is longer than any setting
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
    SettableObject& settings = settable(object);
    settings.specify("TenonObjectSetFromOptions", [&] { settings.setFromOptions(); });
  });
}

TenonErrorCode TenonObjectGetIntegers(TenonObject object, const char* name, TenonInt length,
                                      TenonInt values[], TenonInt* count) noexcept {
  return guard(__func__, [&] {
    const SettableObject& settings = settable(object);
    const std::string setting = textOf(name, "name");
    // A setting of one integer is returned as a list of length 1.
    const bool isOne = std::holds_alternative<Index>(settings.get(setting));
    const std::vector<Index> integers =
        isOne ? std::vector<Index>{getByName<Index>(object, name, "an integer")}
              : getByName<std::vector<Index>>(object, name, "a list of integers");
    if (count)
      *count = static_cast<TenonInt>(integers.size());
    copyUpTo(integers, length, values,
             fmt::format("the setting '{}' of {}", setting, settings.title()));
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
    const bool result = settable(object).isSet(textOf(name, "name"));
    required(isSet, "isSet") = result ? TENON_TRUE : TENON_FALSE;
  });
}
