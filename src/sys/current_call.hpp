// SPDX-License-Identifier: BSD-2-Clause
// The outermost public call that a thread is in, and the object on which it was made: for messages
// about a call that does not come to its end.
#pragma once

#include <string>

namespace tenon {

class Object;

class CallScope {
public:
  // function must never be freed.
  explicit CallScope(const char* function) noexcept;
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;
};

// The first object that a call looks up counts as the one on which it was made.
void noteObject(const Object& object) noexcept;

// "TenonLayerApply"; outside of a public call "a collective call".
const char* currentFunction() noexcept;
// `TenonLayerApply of layer "conv1"`.
std::string currentCall();

} // namespace tenon
