// SPDX-License-Identifier: BSD-2-Clause
// Parallelism matrices (Section 3.1 of the paper named in collective_rule.hpp). A system has levels
// of h_1 ... h_n devices each below one of the level above; a job has axes of p_1 ... p_m
// processes. A matrix of integers x[axis][level] says into how many parts each level splits each
// axis:
//
//   product over axes   x[.][level] = h_level      product over levels x[axis][.] = p_axis
//
// A device is numbered by its digits d[axis][level] < x[axis][level], level by level with the first
// level slowest, and within a level axis by axis with axis 0 slowest. Its coordinate on an axis has
// the digits d[axis][1] ... d[axis][n], the first level slowest.
//
// Of a reduction over some axes, the members of a group differ in these axes' digits alone. On each
// level their factors are multiplied, and levels of 1 are left out: this is the hierarchy (d) on
// which programs are synthesised. Members are numbered level first, in the order of their device
// numbers, so that what is inside a group of the hierarchy is inside a level of the machine.
// (Within a group numbered axis by axis the same programs reduce, but steps cross levels that need
// not.)
#pragma once

#include "reduction/grouping.hpp"

namespace tenon {

class Placement {
public:
  // Factors, axis by axis: at least one axis and one level, factors of at least 1. Throws
  // TENON_ERR_ARG.
  explicit Placement(std::vector<std::vector<Index>> matrix);

  int axes() const noexcept { return static_cast<int>(matrix_.size()); }
  int levels() const noexcept { return static_cast<int>(matrix_.front().size()); }
  const std::vector<std::vector<Index>>& matrix() const noexcept { return matrix_; }
  Hierarchy system() const;
  int devices() const noexcept { return devices_; }

  std::vector<Index> coordinates(int device) const;

  // Axes to reduce over, each once, in any order; TENON_ERR_ARG otherwise.
  Hierarchy reductionHierarchy(const std::vector<int>& axes) const;
  // The devices of each group, member by member.
  DeviceGroups reductionGroups(const std::vector<int>& axes) const;
  // Groups of members, such as groupsOf() forms on the reduction's hierarchy, in every one of the
  // reduction groups.
  DeviceGroups lowered(const std::vector<int>& axes, const DeviceGroups& members) const;

private:
  std::vector<bool> chosen(const std::vector<int>& axes) const;

  std::vector<std::vector<Index>> matrix_;
  int devices_;
};

} // namespace tenon
