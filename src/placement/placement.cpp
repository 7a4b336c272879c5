// SPDX-License-Identifier: BSD-2-Clause
// Placement (placement.hpp): a parallelism matrix, by which devices of a machine and coordinates of
// processes in the job's grid are converted into each other, and the groups of a reduction. For the
// matrix [[2,2],[1,2]], axes of 4 and 2 processes on 2 nodes of 4 GPUs:
//
//     device                     0    1    2    3    4    5    6    7
//     coordinates                0,0  0,1  1,0  1,1  2,0  2,1  3,0  3,1
//     groups that reduce over axis 0      {0, 2, 4, 6}  {1, 3, 5, 7}
//
// A device number has one digit for each level and axis, the last level and axis fastest, so digits
// are processed from the last one to the first.
#include "placement/placement.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

namespace tenon {

namespace {

// Checks a matrix and returns the products over its axes, by level: the sizes of the system.
Hierarchy columnProducts(const std::vector<std::vector<Index>>& matrix) {
  if (matrix.empty() || matrix.front().empty())
    throw Error(TENON_ERR_ARG,
                "the parallelism matrix is empty; it needs at least 1 axis and 1 level");
  Hierarchy system(matrix.front().size(), 1);
  for (const std::vector<Index>& row : matrix) {
    if (row.size() != system.size())
      throw Error(TENON_ERR_ARG, fmt::format("the parallelism matrix has rows of {} and {} levels; "
                                             "all rows must have the same length",
                                             system.size(), row.size()));
    // Check each product before the next factor could overflow.
    deviceCount(row);
    for (std::size_t level = 0; level < system.size(); ++level)
      system[level] *= row[level];
    deviceCount(system);
  }
  return system;
}

} // namespace

Placement::Placement(std::vector<std::vector<Index>> matrix)
    : matrix_(std::move(matrix)), devices_(deviceCount(columnProducts(matrix_))) {}

Hierarchy Placement::system() const {
  return columnProducts(matrix_);
}

std::vector<Index> Placement::coordinates(int device) const {
  // weight[axis] is the value of the next digit of the coordinate on this axis.
  std::vector<Index> result(axes(), 0), weight(axes(), 1);
  Index digits = device;
  for (int level = levels() - 1; level >= 0; --level)
    for (int axis = axes() - 1; axis >= 0; --axis) {
      const Index factor = matrix_[axis][level];
      result[axis] += digits % factor * weight[axis];
      weight[axis] *= factor;
      digits /= factor;
    }
  return result;
}

// Returns for each axis whether it is in the list, after checking the list.
std::vector<bool> Placement::chosen(const std::vector<int>& axes) const {
  std::vector<bool> result(this->axes(), false);
  for (int axis : axes) {
    if (axis < 0 || axis >= this->axes())
      throw Error(TENON_ERR_ARG,
                  fmt::format("axis {} to reduce over is out of range; the axes are 0 to {}", axis,
                              this->axes() - 1));
    if (result[axis])
      throw Error(
          TENON_ERR_ARG,
          fmt::format("axis {} is listed twice among the axes to reduce over, {}; list it once",
                      axis, fmt::join(axes, ",")));
    result[axis] = true;
  }
  return result;
}

Hierarchy Placement::reductionHierarchy(const std::vector<int>& axes) const {
  const std::vector<bool> reduced = chosen(axes);
  Hierarchy hierarchy;
  for (int level = 0; level < levels(); ++level) {
    Index size = 1;
    for (int axis = 0; axis < this->axes(); ++axis)
      size *= reduced[axis] ? matrix_[axis][level] : 1;
    // A level of size 1 has no groups; programs do not use such levels.
    if (size > 1)
      hierarchy.push_back(size);
  }
  return hierarchy;
}

// Devices are in the same group if they have equal coordinates on all other axes.
DeviceGroups Placement::reductionGroups(const std::vector<int>& axes) const {
  const std::vector<bool> reduced = chosen(axes);
  DeviceGroups groups;
  std::map<std::vector<Index>, std::size_t> groupIndex;
  for (int device = 0; device < devices_; ++device) {
    std::vector<Index> otherCoordinates = coordinates(device);
    for (int axis = 0; axis < this->axes(); ++axis)
      if (reduced[axis])
        otherCoordinates[axis] = 0;
    const auto [found, isNew] = groupIndex.try_emplace(otherCoordinates, groups.size());
    if (isNew)
      groups.emplace_back();
    groups[found->second].push_back(device);
  }
  return groups;
}

DeviceGroups Placement::lowered(const std::vector<int>& axes, const DeviceGroups& members) const {
  DeviceGroups deviceGroups;
  for (const std::vector<int>& group : reductionGroups(axes))
    for (const std::vector<int>& memberGroup : members) {
      std::vector<int>& devices = deviceGroups.emplace_back();
      for (int member : memberGroup)
        devices.push_back(group[member]);
    }
  return deviceGroups;
}

} // namespace tenon
