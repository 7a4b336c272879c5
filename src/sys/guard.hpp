// SPDX-License-Identifier: BSD-2-Clause
// The two walls between C++ and C. Outward, guard() is the body of every public function: no
// exception passes it. Inward, callUser() calls a function of the user's and turns its code, or what
// it throws, into an exception of Tenon's, keeping the record of an error that Tenon itself raised
// further in.
#pragma once

#include "sys/current_call.hpp"
#include "sys/device.hpp"
#include "sys/handler.hpp"

#include <utility>

namespace tenon {

// An error that is already in the record: guard() only adds its frame.
class RecordedError : public Error {
public:
  using Error::Error;
};

template <class Body>
TenonErrorCode guard(const char* function, Body&& body,
                     std::source_location where = std::source_location::current()) noexcept {
  const DeviceTurn turn(DeviceTurn::Whose::Library);
  const CallScope scope(function);
  enterCall(function);
  try {
    std::forward<Body>(body)();
    return TENON_SUCCESS;
  } catch (...) {
    return raiseCurrent(function, Severity::Returned, where);
  }
}

// For calls during which other ranks wait for this one: an error not agreed on is fatal.
template <class Body>
TenonErrorCode guardApply(const char* function, Body&& body,
                          std::source_location where = std::source_location::current()) noexcept {
  const DeviceTurn turn(DeviceTurn::Whose::Library);
  const CallScope scope(function);
  enterCall(function);
  try {
    std::forward<Body>(body)();
    return TENON_SUCCESS;
  } catch (...) {
    return raiseCurrent(function, Severity::Fatal, where);
  }
}

// Throws if a user's function returned an error; `recordedBefore` is errorsRecorded() before it.
void checkUserCode(TenonErrorCode code, const char* what, long recordedBefore,
                   std::source_location where);

// What a user's function threw, as it is caught: TENON_ERR_USER, or TENON_ERR_MEMORY.
[[noreturn]] void throwUserException(const char* what, long recordedBefore,
                                     std::source_location where);

// Runs a user's function that returns a TenonErrorCode; `what` names it in the message.
template <class Call>
void callUser(const char* what, Call&& call,
              std::source_location where = std::source_location::current()) {
  const DeviceTurn turn(DeviceTurn::Whose::Program);
  const long before = errorsRecorded();
  TenonErrorCode code = TENON_SUCCESS;
  try {
    code = std::forward<Call>(call)();
  } catch (...) {
    throwUserException(what, before, where);
  }
  checkUserCode(code, what, before, where);
}

} // namespace tenon
