// SPDX-License-Identifier: BSD-2-Clause
#include "sys/current_call.hpp"

#include "sys/live_objects.hpp"
#include "sys/object.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

// Calls nest where a function of the user's makes some.
struct Current {
  int depth = 0;
  const char* function = nullptr;
  const Object* object = nullptr;
};
thread_local Current current;

} // namespace

CallScope::CallScope(const char* function) noexcept {
  if (current.depth++ == 0)
    current = {1, function, nullptr};
}

CallScope::~CallScope() {
  if (--current.depth == 0)
    current = {};
}

void noteObject(const Object& object) noexcept {
  if (current.depth == 1 && !current.object)
    current.object = &object;
}

const char* currentFunction() noexcept {
  return current.function ? current.function : "a collective call";
}

std::string currentCall() {
  const std::string function = currentFunction();
  return isLiveObject(current.object) ? fmt::format("{} of {}", function, current.object->title())
                                      : function;
}

} // namespace tenon
