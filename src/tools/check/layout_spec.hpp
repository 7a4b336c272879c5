// SPDX-License-Identifier: BSD-2-Clause
// Layouts as `tenon check` knows them: plain data with an arithmetic of its own, written from the
// definition and sharing nothing with the library, which is compared with it.
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

// Calls visit(cell) for the cells of a box in row-major order.
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

// The row-major place of an element in a tensor of that shape.
Index placeOf(const Indices& cell, const Indices& shape);

struct GridSpec {
  std::vector<int> extents = {}, ranks = {}; // ranks by position
  int size() const { return static_cast<int>(ranks.size()); }
  int axes() const { return static_cast<int>(extents.size()); }
  int positionOf(int rank) const; // -1: not in the grid
  int coordinate(int position, int axis) const;
  bool operator==(const GridSpec&) const = default;
};

struct Property {
  char kind = 'B'; // S, B, P, R
  int dim = -1;    // with S
  bool operator==(const Property&) const = default;
};

struct HaloSpec {
  std::vector<Interval> boxes = {}; // one for each part, clipped where the mode is none
  std::optional<Interval> widths =
      {}; // low and high, if the boxes are the parts and this much more
  TenonBoundary low = TENON_BOUNDARY_NONE, high = TENON_BOUNDARY_NONE;
  bool isPartial = false;
};

struct LayoutSpec {
  Indices shape = {};
  GridSpec grid = {};
  std::vector<Property> properties = {};        // by axis
  std::vector<std::vector<int>> splitAxes = {}; // by dimension, major first
  std::vector<Indices> cuts = {};               // by dimension
  std::vector<std::optional<HaloSpec>> halos = {};

  int ndim() const { return static_cast<int>(shape.size()); }
  int part(int position, int dim) const;
  Interval owned(int dim, int part) const { return {cuts[dim][part], cuts[dim][part + 1]}; }
  Interval held(int dim, int part) const;
  bool isActive(int position) const;
  // What a position holds, with halos and without them; nothing where it is not active.
  Box box(int position) const;
  Box ownedBox(int position) const;
  bool has(char kind) const;
  bool hasHalos() const;
  bool holdsPartialSums() const; // a P axis or a halo of partial sums
  // Whether an element of the domain lies in the box of the part that owns it, in one dimension.
  bool covers(int dim, Index cell) const;
  LayoutSpec dual() const;
  LayoutSpec withoutHalos() const;
  std::string propertyText() const;
  std::string text() const;
};

// The axes that split a dimension, in the order of the grid; and its cuts, balanced by the major
// axis and then each part by the next.
std::vector<int> axesThatSplit(const LayoutSpec& spec, int dim);
Indices balancedCuts(const LayoutSpec& spec, int dim);
// The cuts after each part was divided evenly into `parts`.
Indices divided(const Indices& cuts, int parts);

// The whole tensor on each rank of a communicator.
LayoutSpec everywhere(const Indices& shape, int ranks);

// The element of the domain that an element shows by the boundary modes, and the sign with which it
// does.
struct Shown {
  Index cell;
  double sign = 1;
};
// None for a zero.
std::optional<Shown> extension(Index cell, Index extent, TenonBoundary low, TenonBoundary high);

// The library's object for a specification, whose boxes are compared with the specification's.
Layout makeLayout(MPI_Comm comm, const LayoutSpec& spec);

std::string listText(const Indices& list);
std::string boxText(const Box& box);

} // namespace tenon::tools
