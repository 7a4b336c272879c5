// SPDX-License-Identifier: BSD-2-Clause
#include "sys/current_call.hpp"

#include "sys/live_objects.hpp"
#include "sys/object.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tenon {

namespace {

thread_local CallScope* innermostCall = nullptr;

} // namespace

CallScope::CallScope(const char* function) noexcept
    : innermost_(innermostCall), outer_(innermost_), function_(function) {
  innermost_ = this;
}

// What ends here may call functions of the user's in turn, and these destroy what this call works on.
CallScope::~CallScope() {
  while (std::exchange(releases_, false)) {
    const auto releaseAll = [](Noted& noted) {
      for (int left = std::exchange(noted.left, 0); left > 0; --left)
        noted.object->release();
    };
    std::for_each(few_.begin(), few_.begin() + static_cast<std::ptrdiff_t>(count_), releaseAll);
    std::for_each(further_.begin(), further_.end(), releaseAll);
  }
  innermost_ = outer_;
}

void CallScope::note(Object& object) {
  if (count_ < kFew)
    few_[count_++] = {&object, 0};
  else
    further_.push_back({&object, 0});
}

CallScope::Noted* CallScope::find(const Object& object) noexcept {
  const auto isIt = [&](const Noted& noted) { return noted.object == &object; };
  const auto end = few_.begin() + static_cast<std::ptrdiff_t>(count_);
  if (const auto at = std::find_if(few_.begin(), end, isIt); at != end)
    return &*at;
  const auto at = std::find_if(further_.begin(), further_.end(), isIt);
  return at != further_.end() ? &*at : nullptr;
}

const CallScope& CallScope::outermost() const noexcept {
  const CallScope* scope = this;
  while (scope->outer_)
    scope = scope->outer_;
  return *scope;
}

void noteObject(Object& object) {
  if (CallScope* scope = innermostCall)
    scope->note(object);
}

void releaseAfterCalls(Object& object) noexcept {
  CallScope* last = nullptr;
  CallScope::Noted* there = nullptr;
  for (CallScope* scope = innermostCall; scope; scope = scope->outer_)
    if (CallScope::Noted* noted = scope->find(object)) {
      last = scope;
      there = noted;
    }
  if (!there)
    return object.release();
  ++there->left;
  last->releases_ = true;
}

const char* currentFunction() noexcept {
  return innermostCall ? innermostCall->outermost().function_ : "a collective call";
}

std::string currentCall() {
  const std::string function = currentFunction();
  const CallScope* call = innermostCall ? &innermostCall->outermost() : nullptr;
  const Object* object = call && call->count_ > 0 ? call->few_.front().object : nullptr;
  return isLiveObject(object) ? fmt::format("{} of {}", function, object->title()) : function;
}

} // namespace tenon
