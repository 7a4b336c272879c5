// SPDX-License-Identifier: BSD-2-Clause
// Grid: a Cartesian grid of processes. Position i (row-major, last axis fastest) is the process
// with rank ranks[i] of the parent communicator. Ranks of the parent that are not listed are
// inactive. For example, the grid of extents {2, 3} with the ranks {10, 11, 12, 20, 21, 22}: rank
// 20 has the position 3 and the coordinates (1, 0).
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace tenon {

class Grid;
using GridPtr = std::shared_ptr<const Grid>;

class Grid {
public:
  // Throws TENON_ERR_ARG if an extent is below 1, a rank is negative or listed twice, or the number
  // of ranks is not the product of the extents.
  Grid(std::vector<int> extents, std::vector<int> ranks);

  // A grid of the ranks 0, 1, ... in order. Equal large grids share one object.
  static GridPtr make(std::vector<int> extents);
  static GridPtr make(std::vector<int> extents, std::vector<int> ranks);

  int axes() const noexcept { return static_cast<int>(extents_.size()); }
  int extent(int axis) const { return extents_[axis]; }
  // True if the axis has one process. The properties S, B, P and R are then equivalent on it.
  bool isTrivial(int axis) const { return extents_[axis] == 1; }
  const std::vector<int>& extents() const noexcept { return extents_; }
  int size() const noexcept { return static_cast<int>(ranks_.size()); }
  const std::vector<int>& ranks() const noexcept { return ranks_; }
  int rank(int position) const { return ranks_[position]; }
  // The position of a parent rank, or -1 if it is inactive.
  int position(int rank) const;
  int coordinate(int position, int axis) const {
    return position / strides_[axis] % extents_[axis];
  }
  std::vector<int> coordinates(int position) const;
  // The extent of several axes merged into one, the first slowest, and a position's coordinate on
  // it.
  int extentOf(const std::vector<int>& axes) const;
  int coordinateOn(int position, const std::vector<int>& axes) const;
  int positionAt(const std::vector<int>& coordinates) const;

  // The extents, such as "2x2", and the ranks unless they are 0, 1, 2, ...
  std::string describe() const;

  std::size_t hash() const noexcept;
  bool operator==(const Grid& other) const {
    return this == &other || (extents_ == other.extents_ && ranks_ == other.ranks_);
  }

private:
  void sortByRank();

  std::vector<int> extents_;
  std::vector<int> strides_;
  std::vector<int> ranks_;
  std::vector<int> byRank_; // Positions sorted by rank; empty if the ranks are consecutive.
};

} // namespace tenon
