// SPDX-License-Identifier: BSD-2-Clause
#include "geometry/mesh.hpp"

#include "sys/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace tenon {

Mesh::Mesh(std::vector<int> extents, std::vector<int> ranks)
    : extents_(std::move(extents)), strides_(extents_.size(), 1), ranks_(std::move(ranks)) {
  long long size = 1;
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
  for (int i = 0; i < this->size(); ++i) {
    if (ranks_[i] < 0)
      throw Error(TENON_ERR_ARG,
                  fmt::format("position {} of the process grid has rank {}; ranks must be >= 0", i,
                              ranks_[i]));
    if (!positions_.emplace(ranks_[i], i).second)
      throw Error(
          TENON_ERR_ARG,
          fmt::format(
              "rank {} is at two positions of the process grid, {} and {}; list each rank once",
              ranks_[i], positions_[ranks_[i]], i));
  }
}

MeshPtr Mesh::make(std::vector<int> extents) {
  constexpr long long kMost = std::numeric_limits<int>::max();
  long long size = 1;
  for (int extent : extents)
    size = std::min(size * std::max(extent, 0), kMost + 1);
  std::vector<int> ranks(size > kMost ? 0 : size); // the constructor says why not
  std::iota(ranks.begin(), ranks.end(), 0);
  return make(std::move(extents), std::move(ranks));
}

MeshPtr Mesh::make(std::vector<int> extents, std::vector<int> ranks) {
  return std::make_shared<const Mesh>(std::move(extents), std::move(ranks));
}

int Mesh::position(int rank) const {
  const auto found = positions_.find(rank);
  return found == positions_.end() ? -1 : found->second;
}

std::vector<int> Mesh::coordinates(int position) const {
  std::vector<int> result(extents_.size());
  for (int axis = 0; axis < axes(); ++axis)
    result[axis] = coordinate(position, axis);
  return result;
}

int Mesh::extentOf(const std::vector<int>& axes) const {
  int product = 1;
  for (int axis : axes)
    product *= extent(axis);
  return product;
}

int Mesh::coordinateOn(int position, const std::vector<int>& axes) const {
  int number = 0;
  for (int axis : axes)
    number = number * extent(axis) + coordinate(position, axis);
  return number;
}

int Mesh::positionAt(const std::vector<int>& coordinates) const {
  int position = 0;
  for (int axis = 0; axis < axes(); ++axis)
    position += coordinates[axis] * strides_[axis];
  return position;
}

std::string Mesh::describe() const {
  std::string text = extents_.empty() ? "1" : fmt::format("{}", fmt::join(extents_, "x"));
  for (int i = 0; i < size(); ++i)
    if (ranks_[i] != i)
      return fmt::format("{} (ranks {})", text, fmt::join(ranks_, ","));
  return text;
}

} // namespace tenon
