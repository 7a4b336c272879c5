// SPDX-License-Identifier: BSD-2-Clause
// The public calls that a thread is in: the objects that each works on, which live until it returns; and for messages
// about a call that does not come to its end the outermost one and the object on which it was made.
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
  friend int callsHolding(const Object& object);
  bool holds(const Object& object) const;
  void hold(Object& object);

  static constexpr std::size_t kFew = 16; // for which nothing is allocated
  CallScope* outer_;
  std::array<Object*, kFew> few_;
  std::size_t count_ = 0;
  std::vector<Object*> further_;
};

// That the innermost call works on an object. The first one that a call looks up counts as that on which it was made.
void noteObject(Object& object);

// How many of the thread's calls hold a reference to an object.
int callsHolding(const Object& object);

// "TenonLayerApply"; outside of a public call "a collective call".
const char* currentFunction() noexcept;
// `TenonLayerApply of layer "conv1"`.
std::string currentCall();

} // namespace tenon
