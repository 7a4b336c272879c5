// SPDX-License-Identifier: BSD-2-Clause
// Race: times several methods for the same work in turns on all ranks of a communicator, and prints
// the ratio of their times.
//
// In each round every method has its turn: one call that is not timed, a barrier, then `calls`
// calls. The time of a turn is that of the slowest rank, divided by the number of calls. Methods
// are compared by the ratio of their medians over the rounds; p10 and p90 are quantiles of the
// ratio in single rounds, and least is the ratio of the least times, which other work on the
// machine changes the least.
//
// The time of data from core to core depends on the distance of the cores. A race of two ranks can
// be timed by distance (timeByDistance()): it runs twice as many rounds, measures the distance
// before and after each turn, omits the rounds in which it changed, and compares the methods in the
// rounds with near cores and in those with far cores separately.
#pragma once

#include <tenon/mpi.h>

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tenon::bench {

constexpr int kRepetitions = 31;

// What the arguments of a benchmark select: with "11 rows halo" these are 11 rounds of the parts
// "rows" and "halo"; without arguments, kRepetitions rounds of all parts.
struct Selection {
  int rounds = kRepetitions;
  std::set<std::string> parts = {}; // none: all

  static Selection of(int argc, char** argv);
  bool has(const std::string& part) const { return parts.empty() || parts.contains(part); }
};

class CoreDistance;

// The target of a method: at most `factor` times the time of the peer, plus `extra` seconds.
struct Target {
  double factor = 1, extra = 0;
};

class Race {
public:
  // `work` names the work; it and the number of ranks are printed in each row.
  Race(MPI_Comm comm, std::string work, int calls = 1, int rounds = kRepetitions);

  void add(const std::string& method, std::function<void()> run);
  // Runs all rounds. Collective; call after all methods are added.
  void time();
  // Runs all rounds by the distance of the cores, if there are two ranks on one node.
  void timeByDistance();
  // Calls print() for each distance with enough rounds; print() and best() then use these rounds
  // only. If no distance has enough, or the race was not timed by distance, it is called once for
  // all rounds, which are called "mixed" in the first case.
  void eachDistance(const std::function<void()>& print);
  // Returns the method with the smallest median, of these, which must have been added. Not
  // collective.
  std::string best(const std::vector<std::string>& methods) const;
  // Prints a row on rank 0: a method, on arrays of the kind `memory`, compared with a peer, or with
  // "absent" if the peer was not added.
  void print(const std::string& method, const std::string& memory, const std::string& peer,
             std::optional<Target> target = {}) const;

private:
  // The distance of the two ranks' cores: near cores share a cache.
  enum class Cores { Any, Near, Far };
  struct Method {
    std::string name;
    std::function<void()> run;
    std::vector<double> seconds, distances; // of each turn; two distances, before it and after it
  };
  void time(int rounds, CoreDistance* distance);
  const char* coresName() const;
  const Method* find(const std::string& name) const;
  std::vector<std::size_t> roundsAt(Cores cores) const;
  std::vector<double> secondsOf(const Method& method) const;

  MPI_Comm comm_;
  std::string work_;
  int calls_;  // of a turn
  int wanted_; // rounds that time() runs
  std::vector<Method> methods_;
  // The rounds that print() and best() use, and the distance of the cores in them.
  std::vector<std::size_t> rounds_;
  Cores cores_ = Cores::Any;
};

// Prints the machine's load and MPI library, and the heads of the columns.
void printHead(MPI_Comm comm, int rounds = kRepetitions);

// Returns a quantile: the element at this share of the sorted values, 0.5 for the median.
double quantile(std::vector<double> values, double share);

// Throws on all ranks, with a message about `what`, unless the values are equal on all ranks.
void requireEqual(MPI_Comm comm, const std::string& what, const std::vector<double>& got,
                  const std::vector<double>& want);

} // namespace tenon::bench
