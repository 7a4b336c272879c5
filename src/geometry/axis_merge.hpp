// SPDX-License-Identifier: BSD-2-Clause
// Layouts on a mesh of fewer axes and the same ranks. Two axes are one to a conversion if both of its
// layouts have equal properties on them and, where they split a dimension, one follows the other in its
// order. The one axis has a coordinate for each pair of theirs, the first axis slowest; so every rank
// keeps its box, and its peers. Axes of one process are left out.
#pragma once

#include "geometry/layout.hpp"

namespace tenon {

class AxisMerge {
public:
  // Merges as many axes as both layouts, on one mesh and without margins, allow.
  AxisMerge(const Layout& from, const Layout& to);

  const Mesh& mesh() const noexcept { return *merged_; }
  // Those that an axis of that mesh is made of, the slowest first.
  const std::vector<int>& axesOf(int axis) const { return groups_[axis]; }

  // A layout on the old mesh whose properties and orders fit, such as the two, on the new one.
  Layout merged(const Layout& layout) const;
  // And any layout on the new mesh on the old one.
  Layout unmerged(const Layout& layout) const;

private:
  MeshPtr old_, merged_;
  std::vector<std::vector<int>> groups_;
};

} // namespace tenon
