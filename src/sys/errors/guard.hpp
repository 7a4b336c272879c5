// SPDX-License-Identifier: BSD-2-Clause
// The two boundaries between C++ and C:
// guard(function, body)   the body of every public function; converts exceptions to error codes
// guardApply(...)         the same for calls during which other ranks wait for this one
// callUser(what, call)    calls a user function; converts its error code or exception to an Error,
//                         and preserves the record if Tenon itself raised the error further in
#pragma once

#include "sys/device.hpp"
#include "sys/errors/handler.hpp"
#include "sys/traps.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace tenon {

class Object;

// A public call of a thread, and the objects that it uses, which stay alive until it returns. Calls
// nest, since user functions can call the library again. Messages about a call that does not return
// name the outermost call, and the object on which it was made.
//
// A call does not hold references: it records the objects, and the destruction of a handle
// transfers the handle's reference to the outermost call that uses the object.
class CallScope {
public:
  // function must have static storage duration.
  explicit CallScope(const char* function) noexcept;
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

private:
  friend void noteObject(Object& object);
  friend void releaseAfterCalls(Object& object) noexcept;
  friend const char* currentFunction() noexcept;
  friend std::string currentCall();

  struct Noted {
    Object* object;
    int pendingReleases; // number of references that this call releases at its end
  };
  void note(Object& object);
  Noted* find(const Object& object) noexcept;
  const CallScope& outermost() const noexcept;

  static constexpr std::size_t kFew = 16; // up to this number of objects, nothing is allocated
  CallScope*& innermost_;                 // the thread's pointer to its innermost call
  CallScope* outer_;
  const char* function_;
  bool releases_ = false;
  std::size_t count_ = 0;
  std::array<Noted, kFew> inlineNoted_;
  std::vector<Noted> moreNoted_;
};

// Records that the innermost call uses an object. The first object that a call looks up counts as
// the one on which it was made.
void noteObject(Object& object);

// Releases a reference when the outermost call of this thread that uses the object returns, or
// immediately if there is no such call.
void releaseAfterCalls(Object& object) noexcept;

// Name such as "TenonLayerApply"; outside of a public call "a collective call".
const char* currentFunction() noexcept;
// Text such as `TenonLayerApply of layer "conv1"`.
std::string currentCall();

// An error that has been recorded already: guard() only adds a frame.
class RecordedError : public Error {
public:
  using Error::Error;
};

// In the scope of a public call, the program's floating-point traps are disabled (sys/traps.hpp),
// and the library's device is the current one; callUser() reverts both while the user's function
// runs.
template <class Body>
TenonErrorCode guard(const char* function, Body&& body,
                     std::source_location where = std::source_location::current()) noexcept {
  const NoTraps noTraps;
  const CurrentDeviceScope deviceScope(CurrentDeviceScope::Whose::Library);
  const CallScope scope(function);
  enterCall(function);
  try {
    std::forward<Body>(body)();
    return TENON_SUCCESS;
  } catch (...) {
    return raiseCurrent(function, Severity::Returned, where);
  }
}

// guard() for calls during which other ranks wait for this one: an error that is not agreed is
// fatal. isAlone() is called after an error only. It returns whether this is the only rank, in
// which case the error is returned.
template <class Body, class IsAlone>
TenonErrorCode guardApply(const char* function, Body&& body, IsAlone&& isAlone,
                          std::source_location where = std::source_location::current()) noexcept {
  const NoTraps noTraps;
  const CurrentDeviceScope deviceScope(CurrentDeviceScope::Whose::Library);
  const CallScope scope(function);
  enterCall(function);
  try {
    std::forward<Body>(body)();
    return TENON_SUCCESS;
  } catch (...) {
    return raiseCurrent(function, isAlone() ? Severity::Agreed : Severity::Fatal, where);
  }
}

// Throws if a user function returned an error; `recordedBefore` is errorsRecorded() before the
// call.
void checkUserCode(TenonErrorCode code, const char* what, long recordedBefore,
                   std::source_location where);

// Converts the exception of a user function, inside a catch block, to TENON_ERR_USER or
// TENON_ERR_MEMORY.
[[noreturn]] void throwUserException(const char* what, long recordedBefore,
                                     std::source_location where);

// Calls a user function that frees a context, if there is one. Its exceptions are caught and
// reported by a printed line, since the caller cannot handle them.
void callDestroyer(void (*destroy)(void*), void* context) noexcept;

// Calls a user function that returns a TenonErrorCode; `what` is its name in error texts.
template <class Call>
void callUser(const char* what, Call&& call,
              std::source_location where = std::source_location::current()) {
  const ProgramTraps traps;
  const CurrentDeviceScope deviceScope(CurrentDeviceScope::Whose::Program);
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
