// SPDX-License-Identifier: BSD-2-Clause
// Floating-point traps: a program can set them to stop at a division by zero, an overflow or an
// invalid operation. They belong to the program, but the library computes with NaN and infinity:
//
//   public call of the library    NoTraps: saves the program's traps and disables them
//     user function               ProgramTraps: the program's traps are enabled again
//     return to the library       ~ProgramTraps: disabled again
//   return to the program         ~NoTraps: restored, with the program's exception flags
#pragma once

#include <cfenv>

namespace tenon {

// Whether this thread traps any exception. On x86-64 the test takes two instructions.
inline bool trapsExceptions() noexcept {
#if defined(__x86_64__) && defined(__GNUC__)
  constexpr unsigned kMasks = 0x1f80; // bits of MXCSR, set for exceptions that are not trapped
  return (__builtin_ia32_stmxcsr() & kMasks) != kMasks;
#elif defined(__GLIBC__)
  return fegetexcept() != 0;
#else
  return false; // such a system has no function to set traps
#endif
}

// Scope in which this thread traps no exceptions. Exception flags that are raised in the scope are
// discarded at its end. Threads that start inside the scope do not trap either.
class NoTraps {
public:
  NoTraps() noexcept {
    if (trapsExceptions())
      hold();
  }
  ~NoTraps() {
    if (holds_)
      release();
  }
  NoTraps(const NoTraps&) = delete;
  NoTraps& operator=(const NoTraps&) = delete;

private:
  friend class ProgramTraps;
  void hold() noexcept;
  void release() noexcept;

  std::fenv_t before_; // the environment of the program
  NoTraps* outer_;     // the enclosing scope of this thread, or null
  bool holds_ = false;
};

// Scope, inside a NoTraps, in which this thread has the program's traps again: for user
// functions.
class ProgramTraps {
public:
  ProgramTraps() noexcept;
  ~ProgramTraps();
  ProgramTraps(const ProgramTraps&) = delete;
  ProgramTraps& operator=(const ProgramTraps&) = delete;

private:
  NoTraps* const held_;
};

} // namespace tenon
