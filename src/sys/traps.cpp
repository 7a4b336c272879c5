// SPDX-License-Identifier: BSD-2-Clause
// Saves and restores the floating-point environment of the program. Calls nest, since user
// functions call the library again, so each thread has a list of the open NoTraps scopes.
#include "sys/traps.hpp"

namespace tenon {

namespace {

// The innermost NoTraps of this thread; null while a user function runs, or outside of calls.
thread_local NoTraps* innermostHeld = nullptr;

} // namespace

void NoTraps::hold() noexcept {
  std::feholdexcept(&before_);
  outer_ = innermostHeld;
  innermostHeld = this;
  holds_ = true;
}

void NoTraps::release() noexcept {
  innermostHeld = outer_;
  std::fesetenv(&before_);
}

ProgramTraps::ProgramTraps() noexcept : held_(innermostHeld) {
  if (!held_)
    return;
  innermostHeld = nullptr;
  std::fesetenv(&held_->before_);
}

// Changes by the user function, such as raised flags, are preserved for the program.
ProgramTraps::~ProgramTraps() {
  if (!held_)
    return;
  std::feholdexcept(&held_->before_);
  innermostHeld = held_;
}

} // namespace tenon
