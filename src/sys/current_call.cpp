// SPDX-License-Identifier: BSD-2-Clause
#include "sys/current_call.hpp"

#include "sys/live_objects.hpp"
#include "sys/object.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

struct Current {
  const char* function = nullptr;
  const Object* object = nullptr;
};
thread_local Current current;
thread_local CallScope* innermostCall = nullptr;

} // namespace

CallScope::CallScope(const char* function) noexcept : outer_(innermostCall) {
  innermostCall = this;
  if (!outer_)
    current = {function, nullptr};
}

// What ends here may call functions of the user's in turn.
CallScope::~CallScope() {
  for (std::size_t i = 0; i < count_; ++i)
    few_[i]->release();
  for (Object* object : further_)
    object->release();
  innermostCall = outer_;
  if (!outer_)
    current = {};
}

bool CallScope::holds(const Object& object) const {
  const auto end = few_.begin() + static_cast<std::ptrdiff_t>(count_);
  return std::find(few_.begin(), end, &object) != end ||
         std::find(further_.begin(), further_.end(), &object) != further_.end();
}

void CallScope::hold(Object& object) {
  if (holds(object))
    return;
  if (count_ < kFew)
    few_[count_++] = &object;
  else
    further_.push_back(&object);
  object.retain();
}

void noteObject(Object& object) {
  if (!innermostCall)
    return;
  innermostCall->hold(object);
  if (!innermostCall->outer_ && !current.object)
    current.object = &object;
}

int callsHolding(const Object& object) {
  int calls = 0;
  for (const CallScope* scope = innermostCall; scope; scope = scope->outer_)
    calls += scope->holds(object) ? 1 : 0;
  return calls;
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
