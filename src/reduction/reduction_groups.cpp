// SPDX-License-Identifier: BSD-2-Clause
// Finds the groups of a sum on the levels of a machine. Everything follows from the grid and the
// levels, which ranks share, so that they number the members alike.
#include "reduction/reduction_groups.hpp"

#include "machine/line.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace tenon {

namespace {

// The digits of a place on the levels, of which the last runs fastest.
std::vector<Index> digitsOf(Index place, const Hierarchy& machine) {
  std::vector<Index> digits(machine.size());
  for (std::size_t level = machine.size(); level-- > 0; place /= machine[level])
    digits[level] = place % machine[level];
  return digits;
}

// The digits that the ranks have on each level, in the order in which they first come.
std::vector<std::vector<Index>> digitsOf(const std::vector<int>& ranks, const Hierarchy& machine) {
  std::vector<std::vector<Index>> digits(machine.size());
  for (int rank : ranks) {
    const std::vector<Index> own = digitsOf(rank, machine);
    for (std::size_t level = 0; level < machine.size(); ++level)
      if (std::ranges::find(digits[level], own[level]) == digits[level].end())
        digits[level].push_back(own[level]);
  }
  return digits;
}

// How many digits the ranks have on each level. Different ranks have different digits, so that the
// product of these numbers is at least the number of ranks, and equal to it only if all
// combinations of the digits occur: then the group is a product of parts of the levels.
std::vector<Index> sizesOf(const std::vector<int>& ranks, const Hierarchy& machine) {
  std::vector<Index> sizes;
  Index product = 1;
  for (const std::vector<Index>& ofLevel : digitsOf(ranks, machine)) {
    sizes.push_back(static_cast<Index>(ofLevel.size()));
    product *= sizes.back();
  }
  if (product != static_cast<Index>(ranks.size()))
    throw Error(
        TENON_ERR_ARG,
        fmt::format("ranks {} reduce together, but at each of the machine's levels [{}] they are "
                    "at {} places, which makes {}: not a part of each level; place the process "
                    "grid with TenonPartitionCreatePlaced(), or pass other -tenon_machine_levels",
                    fmt::join(ranks, ","), fmt::join(machine, ","), fmt::join(sizes, ","),
                    product));
  return sizes;
}

// Which of the ranks has each number, where ranks are numbered level by level.
std::vector<int> orderOf(const std::vector<int>& ranks, const Hierarchy& machine) {
  sizesOf(ranks, machine); // throws if the group is no such product
  const std::vector<std::vector<Index>> digits = digitsOf(ranks, machine);
  std::vector<int> order(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const std::vector<Index> own = digitsOf(ranks[i], machine);
    std::size_t number = 0;
    for (std::size_t level = 0; level < machine.size(); ++level) {
      const auto place = std::ranges::find(digits[level], own[level]) - digits[level].begin();
      number = number * digits[level].size() + place;
    }
    order[number] = static_cast<int>(i);
  }
  return order;
}

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
  for (int place : order)
    members.push_back(line.at(place));
  return members;
}

std::vector<std::vector<int>> reductionGroupsOf(const Grid& grid, const std::vector<int>& axes,
                                                const std::vector<int>& order) {
  std::vector<std::vector<int>> groups;
  std::set<int> seen;
  for (int rank : grid.ranks()) {
    if (seen.count(rank))
      continue;
    groups.push_back(reductionGroupOf(grid, axes, rank, order));
    seen.insert(groups.back().begin(), groups.back().end());
  }
  return groups;
}

Hierarchy reductionHierarchy(const Grid& grid, const std::vector<int>& axes,
                             const Hierarchy& machine) {
  checkRanks(grid, machine);
  std::vector<Index> sizes;
  std::vector<int> first;
  for (const std::vector<int>& group : reductionGroupsOf(grid, axes)) {
    const std::vector<Index> own = sizesOf(group, machine);
    if (first.empty()) {
      sizes = own;
      first = group;
    } else if (own != sizes) {
      throw Error(
          TENON_ERR_ARG,
          fmt::format("on the machine's levels [{}], ranks {} reduce together at {} places per "
                      "level, but ranks {} at {}; all groups must be alike: place the process grid "
                      "with TenonPartitionCreatePlaced(), or pass other -tenon_machine_levels",
                      fmt::join(machine, ","), fmt::join(first, ","), fmt::join(sizes, ","),
                      fmt::join(group, ","), fmt::join(own, ",")));
    }
  }
  // A level of one member has nothing to sum, and programs do not know it.
  std::erase(sizes, 1);
  return sizes;
}

std::vector<int> memberOrder(const Grid& grid, const std::vector<int>& axes,
                             const Hierarchy& machine) {
  const auto groups = reductionGroupsOf(grid, axes);
  std::vector<int> order = orderOf(groups.front(), machine);
  for (const std::vector<int>& group : groups)
    if (orderOf(group, machine) != order)
      throw Error(
          TENON_ERR_ARG,
          fmt::format("ranks {1} and ranks {2}, in the order of their coordinates, are placed "
                      "differently on machine levels [{0}], so a program would sum in "
                      "different orders; place the process grid by a parallelism matrix of "
                      "the levels (TenonPartitionCreatePlaced()), or pass other "
                      "-tenon_machine_levels",
                      fmt::join(machine, ","), fmt::join(group, ","),
                      fmt::join(groups.front(), ",")));
  // No order stands for the order of coordinates, so that texts do not name the usual case.
  if (std::ranges::is_sorted(order))
    order.clear();
  return order;
}

} // namespace tenon
