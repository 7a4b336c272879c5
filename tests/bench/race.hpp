// SPDX-License-Identifier: BSD-2-Clause
// Methods of doing the same work, timed in turns on all ranks of a communicator.
//
// In each of the rounds, kRepetitions or as many as are wanted, every method has its turn: one call
// that is not timed, a barrier, then `calls` calls in a row. A time is that of the slowest rank,
// divided by the calls. Methods are compared by the ratio of their medians; p10 and p90 are those
// of the ratio in single rounds.
//
// Data that goes from core to core takes a time that depends on how far apart they are. A race of
// two ranks can be timed by distance: it takes twice as many rounds, finds the cores near or far
// before and after each turn, drops the rounds in which that changed, and compares the methods in
// the rounds with near cores, and in those with far ones.
#pragma once

#include <tenon/mpi.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tenon::bench {

constexpr int kRepetitions = 31;

class CoreDistance;

// What a method is to reach: at most factor times the peer's time, and `extra` seconds more.
struct Target {
  double factor = 1, extra = 0;
};

class Race {
public:
  // The work and the ranks that share it are printed with each row.
  Race(MPI_Comm comm, std::string work, int calls = 1, int rounds = kRepetitions);

  void add(const std::string& method, std::function<void()> run);
  // Collective; after all methods are added.
  void time();
  // The same by the distance of the cores, if the ranks are two of one node.
  void timeByDistance();
  // What is printed and found best within `print` is of the rounds at one distance; called for each
  // of which there are enough. Where there are of none, and where the race was not timed so, it is
  // called once for all rounds, in the former case called mixed.
  void eachDistance(const std::function<void()>& print);
  // The one with the least median of methods that were added. Collective calls are not made here.
  std::string best(const std::vector<std::string>& methods) const;
  // One row on rank 0: a method on the arrays of `memory` beside a peer, which is "absent" if no
  // such method was added.
  void print(const std::string& method, const std::string& memory, const std::string& peer,
             std::optional<Target> target = {}) const;

private:
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
  int calls_, wanted_; // rounds
  std::vector<Method> methods_;
  Cores cores_ = Cores::Any;        // of the rounds that are looked at
  std::vector<std::size_t> rounds_; // these
};

// The heads of the rows, and before them what the machine is doing.
void printHead(MPI_Comm comm, int rounds = kRepetitions);

// The element at this share of the sorted values, 0.5 for the median.
double quantile(std::vector<double> values, double share);

// Ends the program on all ranks, naming what is wrong, unless the values are equal everywhere.
void requireEqual(MPI_Comm comm, const std::string& what, const std::vector<double>& got,
                  const std::vector<double>& want);

} // namespace tenon::bench
