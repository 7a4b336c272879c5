// SPDX-License-Identifier: BSD-2-Clause
// Searches from the innermost level outwards, block by block. What the rest costs depends on the
// levels that are left and on the share of the data that a member still holds, and on nothing else,
// so each such state is priced once.
#include "reduction/cheapest_sum.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace tenon {

namespace {

constexpr int kMaxBlocks = 8;

// The prime factors of each level, in order: members keep their numbers.
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
    std::vector<Block> blocks; // from the innermost
    int left = static_cast<int>(factors_.size());
    Index parts = 1;
    best.seconds = cheapest(left, parts, kMaxBlocks).seconds;
    for (int rest = kMaxBlocks; left > 0; --rest) {
      const Block block = cheapest(left, parts, rest);
      blocks.push_back(block);
      parts *= block.isShared ? membersOf(block.outer, left) : 1;
      best.hierarchy.insert(best.hierarchy.begin(), membersOf(block.outer, left));
      left = block.outer;
    }
    best.program = programOf(blocks);
    return best;
  }

private:
  // The innermost of the blocks that are left: it has the factors from `outer`.
  struct Block {
    double seconds = 0; // of it and of all around it
    int outer = 0;
    bool isShared = false;
  };

  Index membersOf(int outer, int inner) const { return below_[outer] / below_[inner]; }

  double priceOf(int outer, int inner, bool isShared, Index parts) const {
    const MemberGroup group{membersOf(outer, inner), below_[inner]};
    const double held = bytes_ / static_cast<double>(parts);
    if (!isShared)
      return priceOfStep(CollectiveKind::AllReduce, group, held, rates_, goal_);
    const double scatter = priceOfStep(CollectiveKind::ReduceScatter, group, held, rates_, goal_);
    if (goal_ == SumGoal::Share)
      return scatter;
    return scatter + priceOfStep(CollectiveKind::AllGather, group, held, rates_, goal_);
  }

  // The cheapest program to sum over the first `left` factors, where each member holds one of so
  // many parts. Of equal prices the one of fewer steps is taken, as the larger blocks come first.
  Block cheapest(int left, Index parts, int most) {
    if (left == 0)
      return {};
    const auto key = std::tuple(left, parts, most);
    if (const auto known = known_.find(key); known != known_.end())
      return known->second;
    Block best{.seconds = std::numeric_limits<double>::infinity()};
    for (int outer = 0; outer < (most == 1 ? 1 : left); ++outer)
      for (const bool isShared : {false, true}) {
        if (!isShared && goal_ == SumGoal::Share)
          continue;
        const Index rest = isShared ? parts * membersOf(outer, left) : parts;
        const double seconds =
            priceOf(outer, left, isShared, parts) + cheapest(outer, rest, most - 1).seconds;
        if (seconds < best.seconds)
          best = {seconds, outer, isShared};
      }
    return known_[key] = best;
  }

  // Block i from the innermost of B is level B - i of the program, counted from 1.
  Program programOf(const std::vector<Block>& blocks) const {
    const int levels = static_cast<int>(blocks.size());
    Program program;
    const auto add = [&](int block, CollectiveKind kind) {
      const int level = levels - block;
      Instruction one{.slice = level - 1, .collective = kind};
      if (block > 0)
        one = {
            .slice = level, .form = GroupForm::Parallel, .ancestor = level - 1, .collective = kind};
      program.push_back(one);
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
  std::vector<Index> below_; // members inside a unit of each factor's level
  std::map<std::tuple<int, Index, int>, Block> known_;
};

} // namespace

CheapestSum cheapestSum(const Hierarchy& hierarchy, double bytes, const LinkRates& rates,
                        SumGoal goal) {
  return BlockSearch(hierarchy, bytes, rates, goal).run();
}

Hierarchy levelsOf(const LinkRates& rates, int ranks) {
  Hierarchy levels;
  Index around = ranks;
  for (const LevelRates& level : rates.levels) {
    levels.push_back((around + level.ranks - 1) / level.ranks);
    around = level.ranks;
  }
  levels.push_back(around);
  return levels;
}

} // namespace tenon
