// SPDX-License-Identifier: BSD-2-Clause
// What a set of boxes leaves uncovered of a local array, as boxes.
#pragma once

#include "geometry/box.hpp"

namespace tenon {

// A box of cells of a local array.
struct CellBox {
  std::vector<Index> begin;
  Shape extent;
  bool operator==(const CellBox&) const = default;
};

// Of one dimension: the runs that cover it, joined where they touch, and what the range has besides.
struct Coverage {
  std::vector<Interval> covered, gaps;
};
Coverage coverage(std::vector<Interval> runs, Interval range);

// The cells outside the product of what is covered of each dimension, as disjoint boxes: those that
// lie in a gap of dimension d and in covered runs of all before it, for every d.
std::vector<CellBox> gapsOf(const std::vector<Coverage>& dims);

} // namespace tenon
