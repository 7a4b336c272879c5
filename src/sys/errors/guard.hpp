// SPDX-License-Identifier: BSD-2-Clause
// The two walls between C++ and C. Outward, guard() is the body of every public function: no
// exception passes it. Inward, callUser() calls a function of the user's and turns its code, or
// what it throws, into an exception of Tenon's, keeping the record of an error that Tenon itself
// raised further in.
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

// A public call that a thread is in, and the objects that it works on, which live until it returns.
// Calls nest, since user functions can call the library again. Messages about a call that does not
// come to its end name the outermost one, and the object on which it was made.
//
// A call holds no references of its own: it notes the objects, and whoever destroys a handle leaves
// the handle's reference to the outermost call that works on the object.
class CallScope {
public:
  // function must never be freed.
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
    int left; // references to it that this call releases at its end
  };
  void note(Object& object);
  Noted* find(const Object& object) noexcept;
  const CallScope& outermost() const noexcept;

  static constexpr std::size_t kFew = 16; // for which nothing is allocated
  CallScope*& innermost_;                 // of its thread
  CallScope* outer_;
  const char* function_;
  bool releases_ = false;
  std::size_t count_ = 0;
  std::array<Noted, kFew> few_;
  std::vector<Noted> further_;
};

// Notes that the innermost call works on an object. The first object that a call looks up counts as
// the one on which it was made.
void noteObject(Object& object);

// Gives a reference back when the outermost of the calls of this thread that work on the object
// returns, or at once if there is no such call.
void releaseAfterCalls(Object& object) noexcept;

// "TenonLayerApply"; outside of a public call "a collective call".
const char* currentFunction() noexcept;
// `TenonLayerApply of layer "conv1"`.
std::string currentCall();

// An error that is already in the record: guard() only adds its frame.
class RecordedError : public Error {
public:
  using Error::Error;
};

template <class Body>
TenonErrorCode guard(const char* function, Body&& body,
                     std::source_location where = std::source_location::current()) noexcept {
  const HeldTraps held;
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

// For calls during which other ranks wait for this one: an error not agreed on is fatal. isAlone(),
// which is asked after an error alone, says whether there is no other rank: then all that there are
// know it, and it is returned.
template <class Body, class IsAlone>
TenonErrorCode guardApply(const char* function, Body&& body, IsAlone&& isAlone,
                          std::source_location where = std::source_location::current()) noexcept {
  const HeldTraps held;
  const DeviceTurn turn(DeviceTurn::Whose::Library);
  const CallScope scope(function);
  enterCall(function);
  try {
    std::forward<Body>(body)();
    return TENON_SUCCESS;
  } catch (...) {
    return raiseCurrent(function, isAlone() ? Severity::Agreed : Severity::Fatal, where);
  }
}

// Throws if a user's function returned an error; `recordedBefore` is errorsRecorded() before it.
void checkUserCode(TenonErrorCode code, const char* what, long recordedBefore,
                   std::source_location where);

// Turns what a user's function threw, as it is caught, into TENON_ERR_USER, or TENON_ERR_MEMORY.
[[noreturn]] void throwUserException(const char* what, long recordedBefore,
                                     std::source_location where);

// Runs a user's function that frees a context, if there is one. What it throws ends here, with a
// line that says so, since nobody waits for it.
void callDestroyer(void (*destroy)(void*), void* context) noexcept;

// Runs a user's function that returns a TenonErrorCode; `what` names it in the message.
template <class Call>
void callUser(const char* what, Call&& call,
              std::source_location where = std::source_location::current()) {
  const ProgramTraps traps;
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
