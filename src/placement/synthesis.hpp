// SPDX-License-Identifier: BSD-2-Clause
// Enumerates all reduction programs, by increasing size (Section 3.4 of the paper cited in
// collective_rule.hpp). A program is a list of instructions (a collective, and the groups of
// devices in which it runs) after which each device has the sum over its reduction group. The
// search begins with the initial states of all devices, and tries every instruction that the rules
// of the collectives allow, up to a maximal number of instructions.
//
// The result is a graph. A node is the states of all devices, an edge is an instruction, and a
// program is a path from node 0 to the goal. Each node stores the number of paths of each length to
// the goal. Programs are numbered by size and then by their instructions; with the stored numbers
// program n is found without enumerating those before it.
//
// For a hierarchy of L levels with sizes above 1, the distinct instructions and the valid programs
// depend on L only, not on the sizes (tests compare with real sizes). One synthesis on L levels of
// size two therefore serves all hierarchies of L levels.
//
// Master(e) is used with AllReduce only, as in the paper; the numbers of programs on two levels, 1
// 4 20 22, are those printed there. For three and more levels (1 6 50 205 ...) the paper has no
// numbers, and this reading is ours.
#pragma once

#include "reduction/grouping.hpp"

#include <memory>

namespace tenon {

// An instruction that a synthesis tries, with its groups.
struct Move {
  Instruction instruction;
  DeviceGroups groups;
};

// Returns all distinct moves of a hierarchy; devices are numbered by its digits.
std::vector<Move> movesOf(const Hierarchy& hierarchy);

// All programs of a hierarchy up to a maximal size.
class ProgramSet {
public:
  // Enumerates programs of up to sizeLimit moves that take `devices` devices to the sums over
  // reductionGroups. Throws TENON_ERR_ARG if the limit is below 1, or if there are too many states
  // or programs.
  ProgramSet(int devices, const std::vector<Move>& moves, const DeviceGroups& reductionGroups,
             int sizeLimit);

  int sizeLimit() const noexcept { return sizeLimit_; }
  Index count() const noexcept { return count_; }
  // The number of programs of exactly `size` instructions.
  Index countOfSize(int size) const;
  // Returns a program by its number, from 0, in order of size. Throws TENON_ERR_ARG if there is no
  // such program.
  Program program(Index index) const;
  // Number of states in the graph, a measure of work and memory.
  int states() const noexcept { return static_cast<int>(nodes_.size()); }

private:
  friend class SynthesisSearch;
  static constexpr int kGoal = -1;
  struct Edge {
    int move, to; // `to` is a node, or kGoal
  };
  struct Node {
    std::vector<Edge> edges;  // in the order of moves
    std::vector<Index> paths; // number of paths of r + 1 moves to the goal
  };

  Index pathsFrom(int node, int size) const;
  void countPaths();

  int sizeLimit_;
  Index count_ = 0;
  std::vector<Instruction> moves_;
  std::vector<Node> nodes_; // node 0 is the initial state; empty if that is the goal
};

// Returns all programs over a hierarchy of `levels` levels above size 1. Computed once for each
// pair of arguments and cached for the life of the process. Thread-safe.
std::shared_ptr<const ProgramSet> reductionPrograms(int levels, int sizeLimit);

} // namespace tenon
