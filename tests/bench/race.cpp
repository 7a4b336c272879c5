// SPDX-License-Identifier: BSD-2-Clause
// Race (race.hpp): times several methods for the same work in turns, so that disturbances of the
// machine affect all of them, and prints ratios of medians. Rounds can be separated by the distance
// of the two ranks' cores, which is measured before and after each turn (core_distance.hpp).
#include "bench/race.hpp"

#include "bench/core_distance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
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

// Seconds of a round trip of a cache line that separate near cores, which share a cache, from far
// ones.
constexpr double kFarSeconds = 120e-9;

// Replaces each value by the largest one of all ranks.
void maximumOverRanks(MPI_Comm comm, std::vector<double>& values) {
  MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_MAX,
                comm);
}

bool areTwoOfOneNode(MPI_Comm comm) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int ranks = 0, onNode = 0;
  MPI_Comm_size(comm, &ranks);
  MPI_Comm_size(node, &onNode);
  MPI_Comm_free(&node);
  return ranks == 2 && onNode == 2;
}

std::string targetText(const Target& target) {
  if (target.extra == 0)
    return fmt::format("<= {:.3g}", target.factor);
  return fmt::format("<= {:.3g} + {:.1f} us", target.factor, 1e6 * target.extra);
}

} // namespace

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(std::lround(share * double(values.size() - 1)))];
}

Selection Selection::of(int argc, char** argv) {
  Selection selection;
  const bool hasRounds = argc > 1 && std::isdigit(static_cast<unsigned char>(*argv[1]));
  if (hasRounds)
    selection.rounds = std::atoi(argv[1]);
  selection.parts.insert(argv + (hasRounds ? 2 : 1), argv + argc);
  return selection;
}

Race::Race(MPI_Comm comm, std::string work, int calls, int rounds)
    : comm_(comm), work_(std::move(work)), calls_(calls), wanted_(rounds) {}

void Race::add(const std::string& method, std::function<void()> run) {
  methods_.push_back({method, std::move(run), {}, {}});
}

void Race::time() {
  time(wanted_, nullptr);
}

void Race::timeByDistance() {
  if (!areTwoOfOneNode(comm_))
    return time();
  CoreDistance distance(comm_);
  time(2 * wanted_, &distance);
}

// distances[2 * round] and distances[2 * round + 1] are those before and after the turn in a round.
void Race::time(int rounds, CoreDistance* distance) {
  const auto measureDistance = [&](Method& method) {
    if (distance)
      method.distances.push_back(distance->measure());
  };
  for (int i = 0; i < rounds; ++i)
    for (Method& method : methods_) {
      method.run();
      measureDistance(method);
      MPI_Barrier(comm_);
      const double start = MPI_Wtime();
      for (int call = 0; call < calls_; ++call)
        method.run();
      method.seconds.push_back((MPI_Wtime() - start) / calls_);
      measureDistance(method);
    }
  for (Method& method : methods_) {
    maximumOverRanks(comm_, method.seconds);
    maximumOverRanks(comm_, method.distances);
  }
  rounds_ = roundsAt(Cores::Any);
}

void Race::eachDistance(const std::function<void()>& print) {
  constexpr std::size_t kEnough = 11; // rounds for a median
  const auto printAt = [&](Cores cores) {
    cores_ = cores;
    rounds_ = roundsAt(cores);
    if (cores != Cores::Any && rounds_.size() < kEnough)
      return false;
    print();
    return true;
  };
  const bool byDistance = !methods_.front().distances.empty();
  const bool near = byDistance && printAt(Cores::Near), far = byDistance && printAt(Cores::Far);
  if (!near && !far)
    printAt(Cores::Any);
}

const char* Race::coresName() const {
  if (cores_ == Cores::Any)
    return methods_.front().distances.empty() ? "" : "mixed";
  return cores_ == Cores::Near ? "near" : "far";
}

// Returns the rounds in which all distances, before and after each method's turn, are of this kind.
std::vector<std::size_t> Race::roundsAt(Cores cores) const {
  std::vector<std::size_t> rounds;
  for (std::size_t round = 0; round < methods_.front().seconds.size(); ++round) {
    const auto isSo = [&](double distance) {
      return cores == Cores::Any || (distance < kFarSeconds) == (cores == Cores::Near);
    };
    if (std::all_of(methods_.begin(), methods_.end(), [&](const Method& method) {
          return method.distances.empty() ||
                 (isSo(method.distances[2 * round]) && isSo(method.distances[2 * round + 1]));
        }))
      rounds.push_back(round);
  }
  return rounds;
}

std::vector<double> Race::secondsOf(const Method& method) const {
  std::vector<double> seconds;
  for (const std::size_t round : rounds_)
    seconds.push_back(method.seconds[round]);
  return seconds;
}

const Race::Method* Race::find(const std::string& name) const {
  for (const Method& method : methods_)
    if (method.name == name)
      return &method;
  return nullptr;
}

std::string Race::best(const std::vector<std::string>& methods) const {
  return *std::min_element(methods.begin(), methods.end(), [&](const auto& a, const auto& b) {
    return quantile(secondsOf(*find(a)), 0.5) < quantile(secondsOf(*find(b)), 0.5);
  });
}

void Race::print(const std::string& method, const std::string& memory, const std::string& peer,
                 std::optional<Target> target) const {
  if (rankIn(comm_) != 0)
    return;
  int ranks = 0;
  MPI_Comm_size(comm_, &ranks);
  const Method& ours = *find(method);
  const double time = quantile(secondsOf(ours), 0.5);
  fmt::print("{:<33} {:>2} {:<5} {:<8} {:<17} {:>10.2f} {:<23}", work_, ranks, coresName(), memory,
             method, 1e6 * time, peer);
  const Method* theirs = find(peer);
  if (!theirs) {
    fmt::print(" {:>10}\n", "absent");
    return;
  }
  std::vector<double> single;
  for (const std::size_t round : rounds_)
    single.push_back(ours.seconds[round] / theirs->seconds[round]);
  const double limit = quantile(secondsOf(*theirs), 0.5);
  fmt::print(" {:>10.2f} {:>6.2f} {:>6.2f} {:>6.2f} {:>6.2f}", 1e6 * limit, time / limit,
             quantile(single, 0.1), quantile(single, 0.9),
             quantile(secondsOf(ours), 0) / quantile(secondsOf(*theirs), 0));
  if (target)
    fmt::print("  {:<14} {}", targetText(*target),
               time <= target->factor * limit + target->extra ? "met" : "not met");
  fmt::print("\n");
}

void printHead(MPI_Comm comm, int rounds) {
  if (rankIn(comm) != 0)
    return;
  std::string load = "unknown";
  std::ifstream("/proc/loadavg") >> load;
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(version, &length);
  const std::string mpi(version);
  fmt::print("# {} processors, load {}, {} rounds, {}\n", std::thread::hardware_concurrency(), load,
             rounds, mpi.substr(0, mpi.find_first_of(",\n")));
  fmt::print("{:<33} {:>2} {:<5} {:<8} {:<17} {:>10} {:<23} {:>10} {:>6} {:>6} {:>6} {:>6}  {}\n",
             "work", "n", "cores", "memory", "Tenon", "us", "peer", "its us", "ratio", "p10", "p90",
             "least", "target");
}

void requireEqual(MPI_Comm comm, const std::string& what, const std::vector<double>& got,
                  const std::vector<double>& want) {
  int wrong = got == want ? 0 : 1;
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, comm);
  if (wrong != 0)
    throw std::runtime_error(what + " gives wrong values: nothing is timed");
}

} // namespace tenon::bench
