// SPDX-License-Identifier: BSD-2-Clause
// Traps of floating-point exceptions, by which programs end at a division by zero, an overflow or
// an invalid operation. They are the program's: a public call holds them off while it works, and
// gives modes and flags back as it found them.
#pragma once

#include <cfenv>

namespace tenon {

// Whether this thread traps an exception. A call pays two instructions for that where it does not.
inline bool trapsExceptions() noexcept {
#if defined(__x86_64__) && defined(__GNUC__)
  constexpr unsigned kMasks = 0x1f80;
  return (__builtin_ia32_stmxcsr() & kMasks) != kMasks;
#elif defined(__GLIBC__)
  return fegetexcept() != 0;
#else
  return false; // there is no call that sets traps
#endif
}

// While one lives, this thread traps nothing, although it compares what is not a number or finds
// one. What the exceptions of its time leave in the flags is forgotten. Threads that begin
// meanwhile trap nothing either.
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

// While one lives, within the call that holds traps off, this thread has the program's traps: for
// functions of the program's.
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
