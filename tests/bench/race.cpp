// SPDX-License-Identifier: BSD-2-Clause
#include "bench/race.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <stdexcept>
#include <thread>

namespace tenon::bench {

namespace {

int rankIn(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

std::string targetText(const Target& target) {
  if (target.extra == 0)
    return fmt::format("<= {}", target.factor);
  return fmt::format("<= {} + {:.1f} us", target.factor, 1e6 * target.extra);
}

} // namespace

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(std::lround(share * double(values.size() - 1)))];
}

Race::Race(MPI_Comm comm, std::string work, int calls)
    : comm_(comm), work_(std::move(work)), calls_(calls) {}

void Race::add(const std::string& method, std::function<void()> run) {
  methods_.push_back({method, std::move(run), {}});
}

void Race::time() {
  for (int i = 0; i < kRepetitions; ++i)
    for (Method& method : methods_) {
      method.run();
      MPI_Barrier(comm_);
      const double start = MPI_Wtime();
      for (int call = 0; call < calls_; ++call)
        method.run();
      method.seconds.push_back((MPI_Wtime() - start) / calls_);
    }
  for (Method& method : methods_)
    MPI_Allreduce(MPI_IN_PLACE, method.seconds.data(), kRepetitions, MPI_DOUBLE, MPI_MAX, comm_);
}

const Race::Method* Race::find(const std::string& name) const {
  for (const Method& method : methods_)
    if (method.name == name)
      return &method;
  return nullptr;
}

std::string Race::best(const std::vector<std::string>& methods) const {
  return *std::min_element(methods.begin(), methods.end(), [&](const auto& a, const auto& b) {
    return quantile(find(a)->seconds, 0.5) < quantile(find(b)->seconds, 0.5);
  });
}

void Race::print(const std::string& method, const std::string& memory, const std::string& peer,
                 std::optional<Target> target) const {
  if (rankIn(comm_) != 0)
    return;
  int ranks = 0;
  MPI_Comm_size(comm_, &ranks);
  const Method& ours = *find(method);
  const double time = quantile(ours.seconds, 0.5);
  fmt::print("{:<33} {:>2} {:<8} {:<17} {:>10.2f} {:<23}", work_, ranks, memory, method, 1e6 * time,
             peer);
  const Method* theirs = find(peer);
  if (!theirs) {
    fmt::print(" {:>10}\n", "absent");
    return;
  }
  std::vector<double> ratios;
  for (int i = 0; i < kRepetitions; ++i)
    ratios.push_back(ours.seconds[i] / theirs->seconds[i]);
  const double limit = quantile(theirs->seconds, 0.5);
  fmt::print(" {:>10.2f} {:>6.2f} {:>6.2f} {:>6.2f}", 1e6 * limit, time / limit,
             quantile(ratios, 0.1), quantile(ratios, 0.9));
  if (target)
    fmt::print("  {:<14} {}", targetText(*target),
               time <= target->factor * limit + target->extra ? "met" : "not met");
  fmt::print("\n");
}

void printHead(MPI_Comm comm) {
  if (rankIn(comm) != 0)
    return;
  std::string load = "unknown";
  std::ifstream("/proc/loadavg") >> load;
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(version, &length);
  const std::string mpi(version);
  fmt::print("# {} processors, load {}, {} rounds, {}\n", std::thread::hardware_concurrency(), load,
             kRepetitions, mpi.substr(0, mpi.find_first_of(",\n")));
  fmt::print("{:<33} {:>2} {:<8} {:<17} {:>10} {:<23} {:>10} {:>6} {:>6} {:>6}  {}\n", "work", "n",
             "memory", "Tenon", "us", "peer", "its us", "ratio", "p10", "p90", "target");
}

void requireEqual(MPI_Comm comm, const std::string& what, const std::vector<double>& got,
                  const std::vector<double>& want) {
  int wrong = got == want ? 0 : 1;
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, comm);
  if (wrong != 0)
    throw std::runtime_error(what + " gives wrong values: nothing is timed");
}

} // namespace tenon::bench
