// SPDX-License-Identifier: BSD-2-Clause
#include "tools/bench_time.hpp"

#include "tools/program.hpp"

#include <algorithm>
#include <cstring>

namespace tenon::tools {

namespace {

constexpr double kRound = 500e-6; // seconds that a round of one work takes at least
constexpr int kLarge = 4 << 20;   // bytes: beyond the caches that a core has for itself

double timeOf(const Work& work, int count) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int i = 0; i < count; ++i)
    work();
  double mine = MPI_Wtime() - start, slowest = 0;
  MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest / count;
}

double median(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

// Rank 0 sends and gets back what rank 1 returns.
void pingPong(std::vector<char>& buffer) {
  const int rank = worldRank(), count = static_cast<int>(buffer.size());
  for (const int sender : {0, 1}) {
    if (rank == sender)
      MPI_Send(buffer.data(), count, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD);
    else if (rank == 1 - sender)
      MPI_Recv(buffer.data(), count, MPI_CHAR, sender, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

} // namespace

std::vector<double> medians(const std::vector<Work>& works, int repeat) {
  std::vector<int> counts;
  for (const Work& work : works) {
    timeOf(work, 1); // the first call may allocate
    counts.push_back(static_cast<int>(std::clamp(kRound / timeOf(work, 1), 1.0, 1000.0)));
  }
  std::vector<std::vector<double>> times(works.size());
  for (int round = 0; round < repeat; ++round)
    for (std::size_t i = 0; i < works.size(); ++i)
      times[i].push_back(timeOf(works[i], counts[i]));
  std::vector<double> result;
  for (std::vector<double>& of : times)
    result.push_back(median(std::move(of)));
  return result;
}

Limits measureLimits(int repeat) {
  std::vector<char> small(8), large(kLarge), target(kLarge);
  const std::vector<double> times =
      medians({[&] { pingPong(small); }, [&] { pingPong(large); },
               [&] {
                 large[0] = static_cast<char>(large[0] + 1);
                 std::memcpy(target.data(), large.data(), target.size());
               }},
              repeat);
  return {times[0] / 2, 2 * kLarge / times[1], kLarge / times[2]};
}

} // namespace tenon::tools
