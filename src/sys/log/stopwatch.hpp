// SPDX-License-Identifier: BSD-2-Clause
// A stopwatch that reads the steady clock.
#pragma once

#include <chrono>

namespace tenon {

// Measures seconds since its construction. With runs = false it measures 0 and costs nothing.
class Stopwatch {
public:
  explicit Stopwatch(bool runs = true) : runs_(runs) {
    if (runs)
      start_ = Clock::now();
  }
  double seconds() const {
    return runs_ ? std::chrono::duration<double>(Clock::now() - start_).count() : 0;
  }

private:
  using Clock = std::chrono::steady_clock;
  bool runs_;
  Clock::time_point start_{};
};

} // namespace tenon
