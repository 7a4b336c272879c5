// SPDX-License-Identifier: BSD-2-Clause
// As if each message took a while to travel, which on one node none does: while a Delay lives, a
// conversion that has begun to send does not look at what has arrived before that time is over.
#pragma once

#include "comm/mpi.hpp"
#include "linop/exchange/schedule_executor.hpp"

#include <sched.h>

#include <map>

namespace tenon::test {

class Delay : private ScheduleExecutor::Watch {
public:
  // For all conversions of the process.
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
