// SPDX-License-Identifier: BSD-2-Clause
// All programs that reduce, in increasing size (Section 3.4 of the paper named in
// collective_rule.hpp): from the initial states every instruction that the rules allow is tried, up
// to a limit of instructions. A program ends where the goal is reached. Two instructions that form
// the same groups count once.
//
// Programs that agree in the states they have come to share them, so what is kept is a graph of
// states, in which a program is a path to the goal, and the number of paths of each length is known
// for every state. Programs are numbered by size and then by their instructions, and any of them is
// found by its number without making the others.
//
// In a hierarchy of L levels above size 1 which instructions are distinct, and which programs
// reduce, depends on L alone (the tests compare with real sizes). So one synthesis on L levels of
// two devices serves them all; only forming the groups asks for the sizes.
//
// Master(e) is used with AllReduce alone, which is the only use that the paper shows; so the
// numbers for two levels, 1 4 20 22, are those printed there. For three levels and more (1 6 50 205
// ...) the paper has no numbers, and this reading is ours.
#pragma once

#include "reduction/grouping.hpp"

#include <memory>

namespace tenon {

// An instruction that a synthesis may use.
struct Move {
  Instruction instruction;
  DeviceGroups groups;
};

// All moves that a hierarchy allows, each once; devices are numbered by its digits.
std::vector<Move> movesOf(const Hierarchy& hierarchy);

class ProgramSet {
public:
  // Programs of up to sizeLimit moves that lead `devices` devices to the sums over reductionGroups.
  // Throws TENON_ERR_ARG if the limit is below 1, or the states to look at or the programs are too
  // many.
  ProgramSet(int devices, const std::vector<Move>& moves, const DeviceGroups& reductionGroups,
             int sizeLimit);

  int sizeLimit() const noexcept { return sizeLimit_; }
  Index count() const noexcept { return count_; }
  // The number of programs of exactly `size` instructions.
  Index countOfSize(int size) const;
  // The program of a number, from 0, in order of size. Throws TENON_ERR_ARG if there is no such
  // program.
  Program program(Index index) const;
  // The states of the graph: a measure of work and memory.
  int states() const noexcept { return static_cast<int>(nodes_.size()); }

private:
  friend class SynthesisSearch;
  static constexpr int kGoal = -1;
  struct Edge {
    int move, to; // a node, or kGoal
  };
  struct Node {
    std::vector<Edge> edges;  // by move
    std::vector<Index> paths; // to the goal, of r + 1 moves
  };

  Index pathsFrom(int node, int size) const;
  void countPaths();

  int sizeLimit_;
  Index count_ = 0;
  std::vector<Instruction> moves_;
  std::vector<Node> nodes_; // 0 is the beginning; none if that is the goal
};

// All programs over a hierarchy of so many levels above size 1. Made once for each pair of
// arguments and kept for the life of the process; may be called from any thread.
std::shared_ptr<const ProgramSet> reductionPrograms(int levels, int sizeLimit);

} // namespace tenon
