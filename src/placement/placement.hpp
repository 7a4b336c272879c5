// SPDX-License-Identifier: BSD-2-Clause
// A placement maps the process grid of a job to the devices of a machine, by a parallelism matrix
// (Section 3.1 of the paper cited in collective_rule.hpp). A system has levels 1 ... n (such as
// nodes and GPUs) with h_level units in each unit of the level above. A job has grid axes of p_1
// ... p_m processes. The matrix x[axis][level] has the number of parts into which each level
// divides each axis. For example, 2 nodes of 4 GPUs and axes of 4 and 2 processes have the matrices
// [[1,4],[2,1]] (axis 0 inside the nodes) and [[2,2],[1,2]]. In general:
//
//   product over axes   x[.][level] = h_level      product over levels x[axis][.] = p_axis
//
// A device is numbered by its digits d[axis][level] < x[axis][level]: level by level with the first
// level slowest, and within a level axis by axis with axis 0 slowest. Its coordinate on an axis has
// the digits d[axis][1] ... d[axis][n], the first level slowest.
//
// In a reduction over some axes, the members of a group differ only in the digits of these axes.
// The product of these axes' factors on each level, without levels of 1, is the hierarchy for which
// programs are synthesised: in the example, axis 0 has the hierarchy [4] with the first matrix and
// [2,2] with the second. Members are numbered level first, in the order of their device numbers. A
// group inside a level of that hierarchy is then inside a level of the machine. (If members were
// numbered axis by axis, the same programs would be valid, but steps would cross levels
// unnecessarily.)
#pragma once

#include "reduction/grouping.hpp"

namespace tenon {

class Placement {
public:
  // `matrix` has factors >= 1, by axis and level, with at least one axis and one level. Throws
  // TENON_ERR_ARG otherwise.
  explicit Placement(std::vector<std::vector<Index>> matrix);

  int axes() const noexcept { return static_cast<int>(matrix_.size()); }
  int levels() const noexcept { return static_cast<int>(matrix_.front().size()); }
  const std::vector<std::vector<Index>>& matrix() const noexcept { return matrix_; }
  // The sizes of the levels, which are the column products of the matrix.
  Hierarchy system() const;
  int devices() const noexcept { return devices_; }

  // Returns the coordinate of a device on each grid axis.
  std::vector<Index> coordinates(int device) const;

  // Returns the hierarchy of a reduction over distinct axes, in any order. Throws TENON_ERR_ARG for
  // other axes.
  Hierarchy reductionHierarchy(const std::vector<int>& axes) const;
  // Returns the devices of each reduction group, by member.
  DeviceGroups reductionGroups(const std::vector<int>& axes) const;
  // Converts groups of members, such as those of groupsOf() on the reduction's hierarchy, to groups
  // of devices, in every reduction group.
  DeviceGroups lowered(const std::vector<int>& axes, const DeviceGroups& members) const;

private:
  // By axis: whether it is one of `axes`. Throws the error of reductionHierarchy().
  std::vector<bool> chosen(const std::vector<int>& axes) const;

  std::vector<std::vector<Index>> matrix_;
  int devices_;
};

} // namespace tenon
