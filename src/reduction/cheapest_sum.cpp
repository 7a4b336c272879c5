// SPDX-License-Identifier: BSD-2-Clause
// Finds the cheapest program of a sum (cheapest_sum.hpp) by dynamic programming. The prime factors
// of the levels are joined to blocks, from the innermost outwards. For 8 members on levels 2 x 4,
// the factors are 2 2 2, and with [ ] for a block:
//
//     [2 2 2]        one step in which all 8 exchange
//     [2] [2 2]      ReduceScatter in groups of 4, AllReduce of pairs, AllGather in groups of 4
//     [2] [2] [2]    three steps between pairs
//
// are some of the candidates. The price of the remaining (outer) blocks depends only on the
// remaining factors and on the part of the data that a member holds, so each such state is priced
// once.
#include "reduction/cheapest_sum.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace tenon {

namespace {

constexpr int kMaxBlocks = 8; // checkReduces() verifies programs of at most 8 levels

// Returns the prime factors of each level, in order, so members keep their numbers.
Hierarchy factored(const Hierarchy& hierarchy) {
  Hierarchy factors;
  for (Index size : hierarchy) {
    for (Index factor = 2; factor * factor <= size; ++factor)
      for (; size % factor == 0; size /= factor)
        factors.push_back(factor);
    if (size > 1)
      factors.push_back(size);
  }
  return factors;
}

class BlockSearch {
public:
  BlockSearch(const Hierarchy& hierarchy, double bytes, const LinkRates& rates, SumGoal goal)
      : factors_(factored(hierarchy)), bytes_(bytes), rates_(rates), goal_(goal) {
    below_.assign(factors_.size() + 1, 1);
    for (std::size_t i = factors_.size(); i-- > 0;)
      below_[i] = below_[i + 1] * factors_[i];
  }

  CheapestSum run() {
    CheapestSum best;
    std::vector<Block> blocks;                         // from the innermost
    int remaining = static_cast<int>(factors_.size()); // factors that are not in a block yet
    Index parts = 1;                                   // a member holds 1/parts of the data
    best.seconds = cheapest(remaining, parts, kMaxBlocks).seconds;
    for (int blocksLeft = kMaxBlocks; remaining > 0; --blocksLeft) {
      const Block block = cheapest(remaining, parts, blocksLeft);
      blocks.push_back(block);
      parts *= block.isShared ? membersOf(block.outer, remaining) : 1;
      best.hierarchy.insert(best.hierarchy.begin(), membersOf(block.outer, remaining));
      remaining = block.outer;
    }
    best.program = programOf(blocks);
    return best;
  }

private:
  // Choice of the innermost remaining block, which has the remaining factors from number `outer`
  // on.
  struct Block {
    double seconds = 0; // price of this block and all blocks around it
    int outer = 0;
    bool isShared = false; // members get shares (ReduceScatter), not the whole sum (AllReduce)
  };

  // Number of members of a block, which has the factors from `outer` to `inner` - 1.
  Index membersOf(int outer, int inner) const { return below_[outer] / below_[inner]; }

  // Price of a block, including the AllGather that ends it if it is shared.
  double priceOf(int outer, int inner, bool isShared, Index parts) const {
    const MemberGroup group{membersOf(outer, inner), below_[inner]};
    const double heldBytes = bytes_ / static_cast<double>(parts);
    if (!isShared)
      return priceOfStep(CollectiveKind::AllReduce, group, heldBytes, rates_, goal_);
    const double scatter =
        priceOfStep(CollectiveKind::ReduceScatter, group, heldBytes, rates_, goal_);
    if (goal_ == SumGoal::Share)
      return scatter;
    return scatter + priceOfStep(CollectiveKind::AllGather, group, heldBytes, rates_, goal_);
  }

  // Returns the first block of the cheapest program to sum over the first `remaining` factors, if
  // each member holds 1/parts of the data, in at most `maxBlocks` blocks. On equal prices the
  // program with fewer steps wins, because larger blocks are tried first.
  Block cheapest(int remaining, Index parts, int maxBlocks) {
    if (remaining == 0)
      return {};
    const auto key = std::tuple(remaining, parts, maxBlocks);
    if (const auto existing = priced_.find(key); existing != priced_.end())
      return existing->second;
    Block best{.seconds = std::numeric_limits<double>::infinity()};
    const int outerEnd = maxBlocks == 1 ? 1 : remaining; // the last block has all remaining factors
    for (int outer = 0; outer < outerEnd; ++outer)
      for (const bool isShared : {false, true}) {
        if (!isShared && goal_ == SumGoal::Share)
          continue;
        const Index nextParts = isShared ? parts * membersOf(outer, remaining) : parts;
        const double seconds = priceOf(outer, remaining, isShared, parts) +
                               cheapest(outer, nextParts, maxBlocks - 1).seconds;
        if (seconds < best.seconds)
          best = {.seconds = seconds, .outer = outer, .isShared = isShared};
      }
    return priced_[key] = best;
  }

  // Returns the program of these blocks in the language of program.hpp, where each block is a
  // level. Of L levels the innermost block is level L: its groups are all members of a unit of
  // level L - 1. A block further out is level l < L: its groups are members with equal positions in
  // the units of level l, within a unit of level l - 1. The blocks [2] [4] of 2 nodes of 4, of
  // which the inner one is shared, give (1, InsideGroup, ReduceScatter), (1, Parallel(0),
  // AllReduce), (1, InsideGroup, AllGather).
  Program programOf(const std::vector<Block>& blocks) const {
    const int levels = static_cast<int>(blocks.size());
    Program program;
    const auto add = [&](int block, CollectiveKind kind) {
      const int level = levels - block;
      Instruction instruction{.slice = level - 1, .collective = kind};
      if (block > 0)
        instruction = {
            .slice = level, .form = GroupForm::Parallel, .ancestor = level - 1, .collective = kind};
      program.push_back(instruction);
    };
    for (int block = 0; block < levels; ++block)
      add(block,
          blocks[block].isShared ? CollectiveKind::ReduceScatter : CollectiveKind::AllReduce);
    for (int block = levels - 1; block >= 0; --block)
      if (blocks[block].isShared && goal_ != SumGoal::Share)
        add(block, CollectiveKind::AllGather);
    return program;
  }

  const Hierarchy factors_;
  const double bytes_;
  const LinkRates& rates_;
  const SumGoal goal_;
  std::vector<Index> below_; // product of the factors from each one on
  std::map<std::tuple<int, Index, int>, Block> priced_;
};

} // namespace

CheapestSum cheapestSum(const Hierarchy& hierarchy, double bytes, const LinkRates& rates,
                        SumGoal goal) {
  return BlockSearch(hierarchy, bytes, rates, goal).run();
}

// A unit that is not full, such as the last node, counts as a unit: 10 ranks on nodes of 4 have the
// levels [3, 4].
Hierarchy levelsOf(const LinkRates& rates, int ranks) {
  Hierarchy levels;
  Index around = ranks; // number of ranks in a unit of the level around
  for (const LevelRates& level : rates.levels) {
    levels.push_back((around + level.ranks - 1) / level.ranks);
    around = level.ranks;
  }
  levels.push_back(around);
  return levels;
}

} // namespace tenon
