// SPDX-License-Identifier: BSD-2-Clause
// Changes the property of a layout on one grid axis, compares layouts that differ on some axes, and
// merges axes that a conversion treats alike.
//
// The axes that split a dimension are ordered; the last one is its minor axis. An axis that begins
// to split a dimension becomes its minor axis and divides each part into pieces. An axis that
// ceases to split a dimension must be its minor axis; its pieces, which are consecutive, are
// joined. So only ranks that differ on this axis exchange data, and split points set by the user
// are preserved. For example, 12 rows split by axis 0 of 2 processes, then by axis 1 of 3:
//
//   S0,S0   cuts 0 2 4 6 8 10 12    axis 1 is the minor axis
//   S0,B    cuts 0 6 12             after withProperty(layout, 1, B): joined
//   S0,S0                           after withProperty(layout, 1, S0): divided again
#pragma once

#include "geometry/layout/layout.hpp"

#include <optional>

namespace tenon {

// The cuts of a dimension without its minor axis, which has the given extent: the pieces along it
// are joined.
std::vector<Index> joinedCuts(const std::vector<Index>& fine, int extent);
// The cuts with each part divided into balanced pieces.
std::vector<Index> dividedCuts(const std::vector<Index>& coarse, int pieces);

// The layout with another property on one axis; nothing if the axis would have to leave a dimension
// that another axis divides further. New pieces are balanced, unless `destination`, a layout on
// the same grid, divides the dimension by the same axes in the same order, and into the same parts:
// its cuts are then used.
std::optional<Layout> withProperty(const Layout& layout, int axis, Property property,
                                   const Layout* destination = nullptr);

// The axes whose properties differ between the layouts, slowest first, if these axes act as one
// axis: merged into one, a single call of withProperty(), with the cuts of `to`, leads from one
// layout to the other. For this, all of them must change from the same property to the same
// property, and if they split a dimension, they must be its minor axes. Empty otherwise, and for
// layouts with halos.
std::vector<int> changedAxes(const Layout& from, const Layout& to);

// A position and its neighbours along the minor axes of a dimension, `pieces` in number, hold
// consecutive parts. Returns the cuts of these parts, relative to the first element.
std::vector<Index> pieceCuts(const Layout& split, int position, int dim, int pieces);

// Where the ranks of the summed axes get the result of a sum: the whole sum on each rank (All,
// P -> B), a share of it on each rank (Share, P -> S), or the whole sum on the first (First, P ->
// R).
enum class SumGoal { All, Share, First };

// A sum over grid axes, to which a conversion amounts; see sumBetween() below.
struct SumChange {
  std::vector<int> axes; // Merged into one axis, slowest first.
  SumGoal goal = SumGoal::All;
  int dim = -1; // The dimension that is divided into shares.
  // True if the conversion is the adjoint of such a sum: S -> B or R -> B.
  bool isTransposed = false;
};

// The sum, if the conversion or its adjoint is only a sum over some axes; nothing otherwise, and
// for layouts with halos.
std::optional<SumChange> sumBetween(const Layout& from, const Layout& to);

// AxisMerge: two layouts on a grid with fewer axes and the same ranks. A conversion treats two axes
// as one if both layouts have equal properties on them and, where they split a dimension, one
// comes directly after the other in the split order. The merged axis has a coordinate for each pair
// of coordinates on the two axes, the first axis slowest, so every rank has the same box and the
// same peers as before. Axes of one process are omitted. For example, from S0,S0,B to B,B,B on a 2
// x 3 x 4 grid the axes 0 and 1 are merged, which gives S0,B to B,B on a 6 x 4 grid.
class AxisMerge {
public:
  // Merges as many axes as the two layouts allow, which are on one grid and without halos.
  AxisMerge(const Layout& from, const Layout& to);

  const Grid& grid() const noexcept { return *merged_; }
  // The axes of the old grid that were merged into an axis of the new one, slowest first.
  const std::vector<int>& axesOf(int axis) const { return groups_[axis]; }

  // Transfers a layout from the old grid to the new one. Its properties and split orders must be
  // the same on the merged axes, as for the two layouts of the constructor.
  Layout merged(const Layout& layout) const;
  // Transfers any layout from the new grid to the old one.
  Layout unmerged(const Layout& layout) const;

private:
  GridPtr old_, merged_;
  std::vector<std::vector<int>> groups_;
};

} // namespace tenon
