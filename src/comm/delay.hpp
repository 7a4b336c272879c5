// SPDX-License-Identifier: BSD-2-Clause
// For tests: delays messages as if each took a while to travel, which one node hides. A conversion
// that has begun to send does not look at what arrives before that time is over.
#pragma once

#include "comm/mpi.hpp"

#include <sched.h>

namespace tenon {

class Delay {
public:
  // Sets the delay of all conversions of the process, in seconds; 0 for none.
  static void set(double seconds) noexcept { seconds_ = seconds; }

  void start() {
    if (seconds_ > 0)
      end_ = MPI_Wtime() + seconds_;
  }
  void wait() const {
    if (seconds_ > 0)
      while (MPI_Wtime() < end_)
        sched_yield();
  }

private:
  static inline double seconds_ = 0;
  double end_ = 0;
};

} // namespace tenon
