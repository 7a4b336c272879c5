// SPDX-License-Identifier: BSD-2-Clause
// Keeps the floating-point environment of the program while the library works. Calls nest, since
// functions of the program call the library again, so each thread has a list of those that hold its
// traps off.
#include "sys/traps.hpp"

namespace tenon {

namespace {

thread_local HeldTraps* innermostHeld = nullptr;

} // namespace

void HeldTraps::hold() noexcept {
  std::feholdexcept(&before_);
  outer_ = innermostHeld;
  innermostHeld = this;
  holds_ = true;
}

void HeldTraps::release() noexcept {
  innermostHeld = outer_;
  std::fesetenv(&before_);
}

ProgramTraps::ProgramTraps() noexcept : held_(innermostHeld) {
  if (!held_)
    return;
  innermostHeld = nullptr;
  std::fesetenv(&held_->before_);
}

// What the function has changed, in the flags for one, is the program's from now on.
ProgramTraps::~ProgramTraps() {
  if (!held_)
    return;
  std::feholdexcept(&held_->before_);
  innermostHeld = held_;
}

} // namespace tenon
