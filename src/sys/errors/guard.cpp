// SPDX-License-Identifier: BSD-2-Clause
// Maintains the stack of the public calls of each thread, and translates the failures of user
// functions. The stack is needed because a user function can destroy the handle of an object that
// an enclosing call uses: the object is then released only when the last call that uses it returns.
#include "sys/errors/guard.hpp"

#include "sys/errors/object.hpp"
#include "sys/text/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <string_view>
#include <utility>

namespace tenon {

namespace {

thread_local CallScope* innermostCall = nullptr;

// Rethrows the recorded error; guard() then only adds a frame to it.
[[noreturn]] void throwRecorded(std::source_location where) {
  throw RecordedError(*lastError().error, where);
}

} // namespace

// innermost_ is a reference to this thread's pointer: outer_ copies its old value before the
// pointer is set to this scope.
CallScope::CallScope(const char* function) noexcept
    : innermost_(innermostCall), outer_(innermost_), function_(function) {
  innermost_ = this;
}

// Destructors of released objects can call user functions, and these can destroy further objects of
// this call. Repeated until nothing is left to release.
CallScope::~CallScope() {
  while (std::exchange(releases_, false)) {
    const auto releaseAll = [](Noted& noted) {
      for (int references = std::exchange(noted.pendingReleases, 0); references > 0; --references)
        noted.object->release();
    };
    std::for_each(inlineNoted_.begin(), inlineNoted_.begin() + static_cast<std::ptrdiff_t>(count_),
                  releaseAll);
    std::for_each(moreNoted_.begin(), moreNoted_.end(), releaseAll);
  }
  innermost_ = outer_;
}

void CallScope::note(Object& object) {
  // Calls with many objects are rare; a call in a time step allocates nothing.
  if (count_ < kFew)
    inlineNoted_[count_++] = {&object, 0};
  else
    moreNoted_.push_back({&object, 0});
}

CallScope::Noted* CallScope::find(const Object& object) noexcept {
  const auto isIt = [&](const Noted& noted) { return noted.object == &object; };
  const auto end = inlineNoted_.begin() + static_cast<std::ptrdiff_t>(count_);
  if (const auto at = std::find_if(inlineNoted_.begin(), end, isIt); at != end)
    return &*at;
  const auto at = std::find_if(moreNoted_.begin(), moreNoted_.end(), isIt);
  return at != moreNoted_.end() ? &*at : nullptr;
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
  // The outermost call that uses the object returns last, so it holds the reference.
  CallScope* outermostUser = nullptr;
  CallScope::Noted* entry = nullptr;
  for (CallScope* scope = innermostCall; scope; scope = scope->outer_)
    if (CallScope::Noted* noted = scope->find(object)) {
      outermostUser = scope;
      entry = noted;
    }
  if (!entry)
    return object.release();
  ++entry->pendingReleases;
  outermostUser->releases_ = true;
}

const char* currentFunction() noexcept {
  return innermostCall ? innermostCall->outermost().function_ : "a collective call";
}

std::string currentCall() {
  const std::string function = currentFunction();
  // The first handle that a call dereferences is the object that it is about.
  const CallScope* call = innermostCall ? &innermostCall->outermost() : nullptr;
  const Object* object = call && call->count_ > 0 ? call->inlineNoted_.front().object : nullptr;
  // The call can have destroyed its object already.
  return isLiveObject(object) ? fmt::format("{} of {}", function, object->title()) : function;
}

void checkUserCode(TenonErrorCode code, const char* what, long recordedBefore,
                   std::source_location where) {
  if (code == TENON_SUCCESS)
    return;
  // A new record with the same code comes from a library call that the function made and passed on.
  // Its text is more specific than one from here.
  if (errorsRecorded() != recordedBefore && lastError().code() == code)
    throwRecorded(where);
  throw Error(code, fmt::format("{} returned error {}", what, errorName(code)), where);
}

// Exceptions of tenon.hpp are recognised by their text, which contains the message of the error
// that Tenon raised: their class is unknown in this library.
void throwUserException(const char* what, long recordedBefore, std::source_location where) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    throw Error(TENON_ERR_MEMORY, fmt::format("an allocation failed in {}", what), where);
  } catch (const std::exception& error) {
    if (errorsRecorded() != recordedBefore &&
        std::string_view(error.what()).find(lastError().message()) != std::string_view::npos)
      throwRecorded(where);
    throw Error(TENON_ERR_USER, fmt::format("{} threw an exception: {}", what, error.what()),
                where);
  } catch (...) {
    throw Error(TENON_ERR_USER, fmt::format("{} threw an exception of unknown type", what), where);
  }
}

void callDestroyer(void (*destroy)(void*), void* context) noexcept {
  if (!destroy)
    return;
  try {
    destroy(context);
  } catch (...) {
    printError("Tenon: the program's function that frees a context threw an exception, which ends "
               "here\n");
  }
}

} // namespace tenon
