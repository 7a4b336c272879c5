// SPDX-License-Identifier: BSD-2-Clause
// Floating-point traps, with which programs stop at a division by zero, an overflow or an invalid
// operation. They belong to the program: a public call disables them while it works, and restores
// modes and flags afterwards.
#pragma once

#include <cfenv>

namespace tenon {

// Whether this thread traps any exception. The test costs a call two instructions.
inline bool trapsExceptions() noexcept {
#if defined(__x86_64__) && defined(__GNUC__)
  constexpr unsigned kMasks = 0x1f80;
  return (__builtin_ia32_stmxcsr() & kMasks) != kMasks;
#elif defined(__GLIBC__)
  return fegetexcept() != 0;
#else
  return false; // such a system has no function to set traps
#endif
}

// Scope in which this thread traps no exceptions, although the library can compute with NaN. The
// exception flags that are raised meanwhile are discarded. Threads that start inside the scope do
// not trap either.
class HeldTraps {
public:
  HeldTraps() noexcept {
    if (trapsExceptions())
      hold();
  }
  ~HeldTraps() {
    if (holds_)
      release();
  }
  HeldTraps(const HeldTraps&) = delete;
  HeldTraps& operator=(const HeldTraps&) = delete;

private:
  friend class ProgramTraps;
  void hold() noexcept;
  void release() noexcept;

  std::fenv_t before_;
  HeldTraps* outer_;
  bool holds_ = false;
};

// Scope, inside a HeldTraps, in which this thread has the program's traps again: for user
// functions.
class ProgramTraps {
public:
  ProgramTraps() noexcept;
  ~ProgramTraps();
  ProgramTraps(const ProgramTraps&) = delete;
  ProgramTraps& operator=(const ProgramTraps&) = delete;

private:
  HeldTraps* const held_;
};

} // namespace tenon
