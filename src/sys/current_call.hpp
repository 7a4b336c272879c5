// SPDX-License-Identifier: BSD-2-Clause
// The public calls that a thread is in, and the objects that each works on, which live until it returns; for messages
// about a call that does not come to its end, the outermost one and the object on which it was made.
//
// A call holds no references of its own: it notes the objects, and whoever destroys a handle leaves the handle's
// reference to the outermost call that works on the object.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace tenon {

class Object;

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

// That the innermost call works on an object. The first one that a call looks up counts as that on which it was made.
void noteObject(Object& object);

// Gives a reference back when the outermost of the thread's calls that work on the object returns, or at once if there
// is none.
void releaseAfterCalls(Object& object) noexcept;

// "TenonLayerApply"; outside of a public call "a collective call".
const char* currentFunction() noexcept;
// `TenonLayerApply of layer "conv1"`.
std::string currentCall();

} // namespace tenon
