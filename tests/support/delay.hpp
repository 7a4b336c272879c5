// SPDX-License-Identifier: BSD-2-Clause
// Delays the messages of conversions, for tests of what happens while they travel: on one node they
// arrive almost at once. While a Delay exists, a conversion that has begun to send does not look
// for messages that have arrived until the time is over.
#pragma once

#include "comm/mpi.hpp"
#include "linop/exchange/schedule_executor.hpp"

#include <sched.h>

#include <map>

namespace tenon::test {

class Delay : private ScheduleExecutor::Watch {
public:
  // Delays all conversions of this process. At most one Delay can exist at a time, since the
  // executors have one pointer to it.
  explicit Delay(double seconds) : seconds_(seconds) { ScheduleExecutor::watch = this; }
  ~Delay() override { ScheduleExecutor::watch = nullptr; }
  Delay(const Delay&) = delete;
  Delay& operator=(const Delay&) = delete;

private:
  void begins(const ScheduleExecutor& conversion, const Action&) override {
    arrivals_[&conversion] = MPI_Wtime() + seconds_;
  }
  void looks(const ScheduleExecutor& conversion, const Action&) override {
    while (MPI_Wtime() < arrivals_[&conversion])
      sched_yield();
  }

  double seconds_;
  std::map<const ScheduleExecutor*, double> arrivals_;
};

} // namespace tenon::test
