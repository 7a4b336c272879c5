// SPDX-License-Identifier: BSD-2-Clause
// Layouts that differ on grid axes, and axes that a conversion treats alike.
//
// An axis that comes to split a dimension becomes its minor axis and divides each part; one that
// ceases to split a dimension must be its minor axis, and its pieces are joined. So the ranks that
// exchange data differ on this axis alone, and the user's own cuts stay.
#pragma once

#include "geometry/layout/layout.hpp"

#include <optional>

namespace tenon {

// The cuts of a dimension with the pieces along its minor axis, of the given extent, joined.
std::vector<Index> joinedCuts(const std::vector<Index>& fine, int extent);
// The cuts with each part divided in balanced pieces.
std::vector<Index> dividedCuts(const std::vector<Index>& coarse, int pieces);

// The layout with another property on one axis; none if the axis would have to leave a dimension
// that another axis divides further. Pieces are balanced, unless `goal`, a layout on the same grid,
// has other cuts: where the dimension is then split by the first axes that split it in `goal`, and
// the goal's cuts divide the parts, they are cut as there.
std::optional<Layout> withProperty(const Layout& layout, int axis, Property property,
                                   const Layout* goal = nullptr);

// The axes on which the properties differ, the slowest first, if one step of withProperty() with
// the cuts of `to` leads from one layout to the other once these axes are taken as one: they change
// alike and, where they split a dimension, are its minor ones. None if there is no such step, or
// with halos.
std::vector<int> changedAxes(const Layout& from, const Layout& to);

// The cuts of what a position and its neighbours along a dimension's minor axes, of so many ranks,
// hold together, counted from its first element.
std::vector<Index> pieceCuts(const Layout& split, int position, int dim, int pieces);

// What a sum over grid axes leaves on their ranks: all of it on each (P -> B), a share each (P ->
// S), or all on the first (P -> R).
enum class SumGoal { All, Share, First };

struct SumChange {
  std::vector<int> axes; // that are taken as one, the slowest first
  SumGoal goal = SumGoal::All;
  int dim = -1;              // of which ranks get shares
  bool isTransposed = false; // the conversion is the adjoint of such a sum: S -> B, R -> B
};

// The sum that is all of a conversion, or of its adjoint; none if more changes than these axes, or
// with halos.
std::optional<SumChange> sumBetween(const Layout& from, const Layout& to);

// Two layouts on a grid of fewer axes and the same ranks. Two axes are one to a conversion if both
// of its layouts have equal properties on them and, where they split a dimension, one follows the
// other in its order. The one axis has a coordinate for each pair of theirs, the first axis
// slowest; so every rank keeps its box, and its peers. Axes of one process are left out.
class AxisMerge {
public:
  // Merges as many axes as both layouts, on one grid and without halos, allow.
  AxisMerge(const Layout& from, const Layout& to);

  const Grid& grid() const noexcept { return *merged_; }
  // The axes of the old grid that an axis of the new one is made of, the slowest first.
  const std::vector<int>& axesOf(int axis) const { return groups_[axis]; }

  // Brings a layout of the old grid whose properties and orders fit, such as the two, to the new
  // one.
  Layout merged(const Layout& layout) const;
  // Brings any layout of the new grid to the old one.
  Layout unmerged(const Layout& layout) const;

private:
  GridPtr old_, merged_;
  std::vector<std::vector<int>> groups_;
};

} // namespace tenon
