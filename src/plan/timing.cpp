// SPDX-License-Identifier: BSD-2-Clause
#include "plan/timing.hpp"

#include "comm/mpi.hpp"
#include "sys/stopwatch.hpp"

#include <algorithm>

namespace tenon {

namespace {

constexpr double kRound = 500e-6; // seconds at least

double secondsOfACall(const Communicator& comm, int calls, const KernelContext& at,
                      const std::function<void()>& call) {
  checkMpi(MPI_Barrier(comm.mpi()), "MPI_Barrier");
  const Stopwatch watch;
  for (int i = 0; i < calls; ++i)
    call();
  if (at.space() == Space::Device)
    at.stream().synchronise();
  const double mine = watch.seconds();
  double slowest = mine;
  checkMpi(MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, comm.mpi()), "MPI_Allreduce");
  return slowest / calls;
}

} // namespace

double leastSeconds(const Communicator& comm, int rounds, const KernelContext& at,
                    const std::function<void()>& call) {
  secondsOfACall(comm, 1, at, call); // the first may allocate
  const double once = secondsOfACall(comm, 1, at, call);
  const int calls = static_cast<int>(std::clamp(kRound / once, 1.0, 1000.0));
  double least = once;
  for (int round = 0; round < rounds; ++round)
    least = std::min(least, secondsOfACall(comm, calls, at, call));
  return least;
}

} // namespace tenon
