// SPDX-License-Identifier: BSD-2-Clause
// The layouts of `tenon check`: plain data with their own arithmetic, written from the definition.
// They share no code with the library, whose layouts are compared with them.
//
// A layout distributes a tensor over the positions of a process grid. Each axis of the grid has a
// property: S (splits a dimension of the tensor), B (copies), P (partial sums, to be added) or R
// (only the first coordinate has elements). Axes that split a dimension divide it into parts at
// the split points `cuts`. A halo replaces the box of each part by another box.
// Example: 10 rows, S0 on 3 positions: cuts {0, 4, 7, 10}; with a halo of 1 row, part 1 has rows 3
// to 7.
#pragma once

#include "tools/handles.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tenon::tools {

using Index = TenonInt;
using Indices = std::vector<Index>;

struct Interval {
  Index begin = 0, end = 0;
  Index size() const { return end > begin ? end - begin : 0; }
  bool contains(Index i) const { return begin <= i && i < end; }
  bool operator==(const Interval&) const = default;
};

using Box = std::vector<Interval>;

Index elementsOf(const Box& box);
Index elementsOf(const Indices& shape);
Box boxOf(const Indices& shape);

// Calls visit(cell) for the elements of a box in row-major order.
template <class Visit>
void forEachCell(const Box& box, Visit visit) {
  Indices cell(box.size());
  for (std::size_t d = 0; d < box.size(); ++d)
    cell[d] = box[d].begin;
  for (Index left = elementsOf(box); left > 0; --left) {
    visit(static_cast<const Indices&>(cell));
    for (int d = static_cast<int>(box.size()) - 1; d >= 0 && ++cell[d] == box[d].end; --d)
      cell[d] = box[d].begin;
  }
}

// The row-major offset of an element in a tensor of that shape.
Index rowMajorOffset(const Indices& cell, const Indices& shape);

// A process grid. Positions are numbered row-major, the last axis fastest.
struct GridSpec {
  std::vector<int> extents = {}, ranks = {}; // number of positions per axis; rank of each position
  int size() const { return static_cast<int>(ranks.size()); }
  int axes() const { return static_cast<int>(extents.size()); }
  int positionOf(int rank) const; // -1: not in the grid
  int coordinate(int position, int axis) const;
  bool operator==(const GridSpec&) const = default;
};

// The property of a grid axis.
struct Property {
  char kind = 'B'; // S, B, P or R
  int dim = -1;    // the dimension that an S axis splits
  bool operator==(const Property&) const = default;
};

// The halo of one dimension: the box of each part, and the boundary modes of both ends.
struct HaloSpec {
  std::vector<Interval> boxes = {}; // by part; clipped to the domain where the mode is none
  // The widths by which each part is extended, if the halo is specified like that: `begin` is the
  // width at the low side, and `end` that at the high side.
  std::optional<Interval> widths = {};
  TenonBoundary low = TENON_BOUNDARY_NONE, high = TENON_BOUNDARY_NONE;
  bool isPartial = false; // ghost cells hold contributions to be added, not copies
  int longitudes = -1;    // with poles: the dimension that is shifted beyond them
};

struct LayoutSpec {
  Indices shape = {};
  GridSpec grid = {};
  std::vector<Property> properties = {}; // by axis
  // By dimension: the axes that split it (whose property is S of this dimension), in the order in
  // which they do, the first one into the largest parts. This order can differ from the grid's.
  std::vector<std::vector<int>> splitAxes = {};
  std::vector<Indices> cuts = {}; // split points, by dimension
  std::vector<std::optional<HaloSpec>> halos = {};

  int ndim() const { return static_cast<int>(shape.size()); }
  int part(int position, int dim) const;
  Interval owned(int dim, int part) const { return {cuts[dim][part], cuts[dim][part + 1]}; }
  // The box of a part with its halo.
  Interval held(int dim, int part) const;
  // Whether a position has elements: it is in the grid, and first along all R axes.
  bool isActive(int position) const;
  // The elements of a position with halos, and without; empty if the position is not active.
  Box box(int position) const;
  Box ownedBox(int position) const;
  bool has(char kind) const;
  bool hasHalos() const;
  bool holdsPartialSums() const; // a P axis or a halo of partial sums
  // Whether, in one dimension, an element of the domain is in the box of the part that owns it.
  bool covers(int dim, Index cell) const;
  // The layout of the adjoint: copies and partial sums are exchanged, also in halos.
  LayoutSpec dual() const;
  LayoutSpec withoutHalos() const;
  std::string propertyText() const;
  std::string text() const;
};

// axesThatSplit() returns the axes that split a dimension, in the order of the grid.
// balancedCuts() returns its default split points: the dimension is divided evenly by the first of
// these axes (in the order of splitAxes), then each part by the next axis.
std::vector<int> axesThatSplit(const LayoutSpec& spec, int dim);
Indices balancedCuts(const LayoutSpec& spec, int dim);
// The split points after each part was divided evenly into `parts`.
Indices divided(const Indices& cuts, int parts);

// The whole tensor on each rank of a communicator.
LayoutSpec everywhere(const Indices& shape, int ranks);

// Shifts the longitudes of an element by half of their number.
void toOppositeMeridian(Indices& cell, const Indices& shape, int longitudes);

// The element of the domain whose value, times `sign`, a ghost cell outside of the domain has
// according to the boundary modes. Example: periodic, extent 10: cell -1 shows cell 9.
struct Shown {
  Index cell;
  double sign = 1;
  bool crossed = false; // beyond a pole: half of the longitudes further on
};
// Returns none if the ghost cell is 0.
std::optional<Shown> extension(Index cell, Index extent, TenonBoundary low, TenonBoundary high);

// Creates the library's object for a specification, and compares the boxes of both.
Layout makeLayout(MPI_Comm comm, const LayoutSpec& spec);

std::string listText(const Indices& list);
std::string boxText(const Box& box);

} // namespace tenon::tools
