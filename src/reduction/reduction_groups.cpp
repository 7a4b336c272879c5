// SPDX-License-Identifier: BSD-2-Clause
// Computes the groups of ranks that sum together, and the hierarchy and numbering of their members
// on the levels of a machine. reduction_groups.hpp defines these words with an example. The results
// follow from the grid and the levels, which are equal on all ranks, so all ranks number members
// equally.
#include "reduction/reduction_groups.hpp"

#include "machine/line.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

namespace {

// Counts the distinct digits that the ranks of a group have on each level: ranks 0, 1, 4, 5 on the
// levels [2, 4] have 2 and 2 (the digits are 0,0 0,1 1,0 1,1). The time for a group is
// proportional to its size, not to the sizes of levels.
class GroupDigits {
public:
  explicit GroupDigits(const Hierarchy& machine)
      : machine_(machine), sizes_(machine.size()), marks_(machine.size()) {
    for (std::size_t level = 0; level < machine.size(); ++level)
      marks_[level].resize(machine[level]);
  }

  // Returns the number of distinct digits on each level. Different ranks have different digits, so
  // the product of these numbers is at least the number of ranks. It is equal only if all
  // combinations of digits occur: then the group is a product of digit sets.
  const std::vector<Index>& sizesOf(const std::vector<int>& ranks) {
    numberDigits(ranks);
    Index product = 1;
    for (const Index size : sizes_)
      product *= size;
    if (product != static_cast<Index>(ranks.size()))
      throw Error(
          TENON_ERR_ARG,
          fmt::format("ranks {} reduce together, but at each of the machine's levels [{}] they are "
                      "at {} places, which makes {}: not a part of each level; place the process "
                      "grid with TenonPartitionCreatePlaced(), or pass other -tenon_machine_levels",
                      fmt::join(ranks, ","), fmt::join(machine_, ","), fmt::join(sizes_, ","),
                      product));
    return sizes_;
  }

  // Returns the member order: order[number] is the index in `ranks` of the rank with this number,
  // where numbers are by digits, the first level slowest.
  std::vector<int> orderOf(const std::vector<int>& ranks) {
    sizesOf(ranks); // throws if the group is not a product
    std::vector<int> order(ranks.size());
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      Index number = 0, below = 1, rest = ranks[i];
      for (std::size_t level = machine_.size(); level-- > 0; rest /= machine_[level]) {
        number += below * marks_[level][rest % machine_[level]].number;
        below *= sizes_[level];
      }
      order[number] = static_cast<int>(i);
    }
    return order;
  }

private:
  struct Mark {
    int group = 0;    // the last group that has the digit, counted from 1
    Index number = 0; // number of the digit in this group
  };

  // Numbers the digits of a group in the order in which they occur, and counts them in sizes_.
  // Marks of earlier groups are recognised by their group number, so nothing must be cleared.
  void numberDigits(const std::vector<int>& ranks) {
    ++group_;
    std::ranges::fill(sizes_, 0);
    for (Index rest : ranks)
      for (std::size_t level = machine_.size(); level-- > 0; rest /= machine_[level])
        if (Mark& mark = marks_[level][rest % machine_[level]]; mark.group != group_)
          mark = {group_, sizes_[level]++};
  }

  const Hierarchy& machine_; // the digits of the last level are the fastest
  std::vector<Index> sizes_;
  std::vector<std::vector<Mark>> marks_; // by level and digit
  int group_ = 0;
};

// Throws TENON_ERR_ARG if the grid has a rank that is not a device of the machine.
void checkRanks(const Grid& grid, const Hierarchy& machine) {
  const int places = deviceCount(machine);
  for (int rank : grid.ranks())
    if (rank >= places)
      throw Error(
          TENON_ERR_ARG,
          fmt::format("the machine's levels [{}] have {} places, but process grid {} has rank {}; "
                      "pass -tenon_machine_levels whose product is at least the number of ranks",
                      fmt::join(machine, ","), places, grid.describe(), rank));
}

} // namespace

std::vector<int> reductionGroupOf(const Grid& grid, const std::vector<int>& axes, int rank,
                                  const std::vector<int>& order) {
  const int position = grid.position(rank);
  if (position < 0)
    return {};
  std::vector<int> line = lineOf(grid, axes, position);
  if (order.empty())
    return line;
  std::vector<int> members;
  for (int index : order)
    members.push_back(line.at(index));
  return members;
}

std::vector<std::vector<int>> reductionGroupsOf(const Grid& grid, const std::vector<int>& axes,
                                                const std::vector<int>& order) {
  std::vector<std::vector<int>> groups;
  std::vector<bool> isSeen(grid.size());
  for (int position = 0; position < grid.size(); ++position) {
    if (isSeen[position])
      continue;
    groups.push_back(reductionGroupOf(grid, axes, grid.rank(position), order));
    for (const int rank : groups.back())
      isSeen[grid.position(rank)] = true;
  }
  return groups;
}

Hierarchy reductionHierarchy(const Grid& grid, const std::vector<int>& axes,
                             const Hierarchy& machine) {
  checkRanks(grid, machine);
  std::vector<Index> sizes;
  std::vector<int> first;
  GroupDigits digits(machine);
  for (const std::vector<int>& group : reductionGroupsOf(grid, axes)) {
    const std::vector<Index>& groupSizes = digits.sizesOf(group);
    if (first.empty()) {
      sizes = groupSizes;
      first = group;
    } else if (groupSizes != sizes) {
      throw Error(
          TENON_ERR_ARG,
          fmt::format("on the machine's levels [{}], ranks {} reduce together at {} places per "
                      "level, but ranks {} at {}; all groups must be alike: place the process grid "
                      "with TenonPartitionCreatePlaced(), or pass other -tenon_machine_levels",
                      fmt::join(machine, ","), fmt::join(first, ","), fmt::join(sizes, ","),
                      fmt::join(group, ","), fmt::join(groupSizes, ",")));
    }
  }
  // Programs do not use levels of one member.
  std::erase(sizes, 1);
  return sizes;
}

std::vector<int> memberOrder(const Grid& grid, const std::vector<int>& axes,
                             const Hierarchy& machine) {
  const auto groups = reductionGroupsOf(grid, axes);
  GroupDigits digits(machine);
  std::vector<int> order = digits.orderOf(groups.front());
  for (const std::vector<int>& group : groups)
    if (digits.orderOf(group) != order)
      throw Error(
          TENON_ERR_ARG,
          fmt::format("ranks {1} and ranks {2}, in the order of their coordinates, are placed "
                      "differently on machine levels [{0}], so a program would sum in "
                      "different orders; place the process grid by a parallelism matrix of "
                      "the levels (TenonPartitionCreatePlaced()), or pass other "
                      "-tenon_machine_levels",
                      fmt::join(machine, ","), fmt::join(group, ","),
                      fmt::join(groups.front(), ",")));
  // An empty order means the order of coordinates, which texts need not mention.
  if (std::ranges::is_sorted(order))
    order.clear();
  return order;
}

} // namespace tenon
