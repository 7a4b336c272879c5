// SPDX-License-Identifier: BSD-2-Clause
// Positions, coordinates and ranks of a process grid. In nearly all grids ranks are consecutive,
// and the position of a rank is a subtraction; other grids have a list of positions sorted by rank.
#include "geometry/layout/grid.hpp"

#include "geometry/layout/shared_values.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

namespace tenon {

Grid::Grid(std::vector<int> extents, std::vector<int> ranks)
    : extents_(std::move(extents)), strides_(extents_.size(), 1), ranks_(std::move(ranks)) {
  long long size = 1;
  // The product is checked after each factor: two ints fit into 64 bits, so it cannot overflow.
  for (int axis = axes() - 1; axis >= 0; --axis) {
    if (extents_[axis] < 1)
      throw Error(
          TENON_ERR_ARG,
          fmt::format("axis {} of the process grid has {} processes; it must have at least 1", axis,
                      extents_[axis]));
    strides_[axis] = static_cast<int>(size);
    size *= extents_[axis];
    if (size > std::numeric_limits<int>::max())
      throw Error(TENON_ERR_ARG,
                  fmt::format("a process grid of {} has more positions than an int can count",
                              fmt::join(extents_, "x")));
  }
  if (size != static_cast<long long>(ranks_.size()))
    throw Error(TENON_ERR_ARG, fmt::format("a process grid of {} needs {} ranks, but {} were given",
                                           fmt::join(extents_, "x"), size, ranks_.size()));
  const auto negative = std::ranges::find_if(ranks_, [](int rank) { return rank < 0; });
  if (negative != ranks_.end())
    throw Error(TENON_ERR_ARG,
                fmt::format("position {} of the process grid has rank {}; ranks must be >= 0",
                            negative - ranks_.begin(), *negative));
  // Consecutive ranks contain no duplicates, so only the sorted list is searched for them.
  const auto isGap = [](int a, int b) { return b - 1 != a; };
  if (std::ranges::adjacent_find(ranks_, isGap) != ranks_.end())
    sortByRank();
}

void Grid::sortByRank() {
  byRank_.resize(ranks_.size());
  std::iota(byRank_.begin(), byRank_.end(), 0);
  const auto rankOf = [this](int position) { return ranks_[position]; };
  std::ranges::stable_sort(byRank_, {}, rankOf);
  const auto duplicate = std::ranges::adjacent_find(byRank_, std::ranges::equal_to{}, rankOf);
  if (duplicate != byRank_.end())
    throw Error(
        TENON_ERR_ARG,
        fmt::format(
            "rank {} is at two positions of the process grid, {} and {}; list each rank once",
            ranks_[*duplicate], duplicate[0], duplicate[1]));
}

GridPtr Grid::make(std::vector<int> extents) {
  constexpr long long kMax = std::numeric_limits<int>::max();
  long long size = 1;
  for (int extent : extents)
    // Bounded, since the list of ranks is allocated before the constructor checks the extents.
    size = std::min(size * std::max(extent, 0), kMax + 1);
  // If there are more positions than an int can count, no list is made, and the constructor throws.
  std::vector<int> ranks(size > kMax ? 0 : size);
  std::iota(ranks.begin(), ranks.end(), 0);
  return make(std::move(extents), std::move(ranks));
}

GridPtr Grid::make(std::vector<int> extents, std::vector<int> ranks) {
  // Equal large grids share one object. The table is never destroyed, since static objects can make
  // grids.
  static auto* sharedGrids = new SharedValues<Grid>;
  constexpr std::size_t kLarge = 256; // Smaller grids are cheaper to copy than to look up.
  Grid grid(std::move(extents), std::move(ranks));
  return grid.ranks_.size() < kLarge ? std::make_shared<const Grid>(std::move(grid))
                                     : sharedGrids->share(std::move(grid));
}

std::size_t Grid::hash() const noexcept {
  std::size_t hash = extents_.size();
  for (const auto* list : {&extents_, &ranks_})
    for (const int number : *list)
      hash = mixed(hash, static_cast<std::size_t>(number));
  return hash;
}

int Grid::position(int rank) const {
  if (byRank_.empty())
    return rank >= ranks_.front() && rank <= ranks_.back() ? rank - ranks_.front() : -1;
  const auto rankOf = [this](int position) { return ranks_[position]; };
  const auto entry = std::ranges::lower_bound(byRank_, rank, {}, rankOf);
  return entry != byRank_.end() && ranks_[*entry] == rank ? *entry : -1;
}

std::vector<int> Grid::coordinates(int position) const {
  std::vector<int> result(extents_.size());
  for (int axis = 0; axis < axes(); ++axis)
    result[axis] = coordinate(position, axis);
  return result;
}

int Grid::extentOf(const std::vector<int>& axes) const {
  int product = 1;
  for (int axis : axes)
    product *= extent(axis);
  return product;
}

int Grid::coordinateOn(int position, const std::vector<int>& axes) const {
  int number = 0;
  for (int axis : axes)
    number = number * extent(axis) + coordinate(position, axis);
  return number;
}

int Grid::positionAt(const std::vector<int>& coordinates) const {
  int position = 0;
  for (int axis = 0; axis < axes(); ++axis)
    position += coordinates[axis] * strides_[axis];
  return position;
}

std::string Grid::describe() const {
  std::string text = extents_.empty() ? "1" : fmt::format("{}", fmt::join(extents_, "x"));
  for (int i = 0; i < size(); ++i)
    if (ranks_[i] != i)
      return fmt::format("{} (ranks {})", text, fmt::join(ranks_, ","));
  return text;
}

} // namespace tenon
