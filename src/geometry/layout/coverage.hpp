// SPDX-License-Identifier: BSD-2-Clause
// The elements of a local array that a product of intervals leaves uncovered, as boxes.
#pragma once

#include "geometry/layout/box.hpp"

namespace tenon {

// A box of elements of a local array.
struct ElementBox {
  std::vector<Index> begin;
  Shape extent;
  bool operator==(const ElementBox&) const = default;
};

// One dimension of an array: the runs that cover it, joined where they touch, and the gaps that
// they leave in a range.
struct Coverage {
  std::vector<Interval> covered, gaps;
};
Coverage coverage(std::vector<Interval> runs, Interval range);

// The elements outside the product of the covered runs, as disjoint boxes: for every dimension d
// those in a gap of d that are in covered runs of all dimensions before it.
std::vector<ElementBox> gapsOf(const std::vector<Coverage>& dims);

} // namespace tenon
