// SPDX-License-Identifier: BSD-2-Clause
// The elements of a local array outside a product of intervals, as boxes. Used to find the elements
// of an array that a conversion does not fill. For example, if in an array of 4 x 5 elements the
// rows 1 to 3 and the columns 0 to 3 are filled, the gaps are row 0 with all 5 columns, and column
// 4 in the rows 1 to 3.
#pragma once

#include "geometry/layout/box.hpp"

namespace tenon {

// A box of elements of a local array.
struct ElementBox {
  std::vector<Index> begin;
  Shape extent;
  bool operator==(const ElementBox&) const = default;
};

// One dimension of an array: the runs that cover it, merged where they touch, and the gaps between
// them in a range.
struct Coverage {
  std::vector<Interval> covered, gaps;
};
Coverage coverage(std::vector<Interval> runs, Interval range);

// The elements outside the product of the covered runs, as disjoint boxes: for each dimension d,
// the elements in a gap of d and in covered runs of all dimensions before d.
std::vector<ElementBox> gapsOf(const std::vector<Coverage>& dims);

// The elements of disjoint boxes outside another product of runs, as disjoint boxes.
std::vector<ElementBox> without(const std::vector<ElementBox>& boxes,
                                const std::vector<Coverage>& dims);

} // namespace tenon
