// SPDX-License-Identifier: BSD-2-Clause
// What a core does between two looks at a number that another core will change: it leaves the
// shared units to its neighbour for a moment. Elsewhere than on x86 and Arm it looks again at once.
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
