// SPDX-License-Identifier: BSD-2-Clause
// A hint to the core while it polls a value that another core will change: it frees shared
// execution units for the sibling hardware thread. No operation on processors other than x86 and
// Arm.
#pragma once

namespace tenon {

inline void pauseCore() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

} // namespace tenon
