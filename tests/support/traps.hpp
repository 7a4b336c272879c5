// SPDX-License-Identifier: BSD-2-Clause
// For tests of a host that traps floating-point exceptions. Elsewhere than with glibc on x86-64
// there may be no traps; then such a test shows that values are right, and no more.
#pragma once

#include "sys/traps.hpp"

#include <cfenv>

namespace tenon::test {

constexpr int kTrapped = FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW;

// While one lives, this thread has a host's traps.
class HostTraps {
public:
  HostTraps() {
    std::feholdexcept(&before_);
#ifdef __GLIBC__
    feenableexcept(kTrapped);
#endif
  }
  ~HostTraps() {
    std::fesetenv(&before_);
  }
  HostTraps(const HostTraps&) = delete;
  HostTraps& operator=(const HostTraps&) = delete;

private:
  std::fenv_t before_;
};

} // namespace tenon::test
