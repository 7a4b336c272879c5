// SPDX-License-Identifier: BSD-2-Clause
// The checks of a linear operator that redistributes a tensor. Forward and adjoint are applied; the
// values are compared with the definition of the two layouts (values.hpp), copies with each other
// bit by bit, and <F x, y> with <x, F* y>. Small integers make values and identity exact. For real
// numbers both hold up to rounding, and copies differ if ranks add contributions in another order.
#pragma once

#include "tools/check/case.hpp"
#include "tools/check/field.hpp"

namespace tenon::tools {

// An operator under test, and its definition: y = factor * x as dense arrays, with x in the layout
// `from` and y in the layout `to`. For a composition, `between` lists the layouts of the
// intermediate tensors; elements that one of them does not hold are 0 in y.
struct Subject {
  LinearOp op = {};
  LayoutSpec from = {}, to = {};
  TenonDataType fromType = TENON_FLOAT64, toType = TENON_FLOAT64;
  double factor = 1;
  double spread = 1; // sum of the magnitudes of factors that can cancel in `factor`
  std::vector<LayoutSpec> between = {};

  // The subject of the operator's adjoint, without an operator.
  Subject adjoint() const;
};

// The expected result of y <- alpha F x + beta y: the dense array `moved` (alpha F x) plus beta
// times the previous y, which was filled with `before`. Elements of ranks are compared one by one;
// in a layout with partial sums, only the sum over ranks is defined and compared. Copies must be
// bitwise identical.
struct Expected {
  Values moved;
  double beta;
  Filling before;
  double tolerance;
};
void compareOutput(Case& c, const LayoutSpec& to, const Field& y, const Expected& expected,
                   const std::string& what);

// Bound of the difference between sums in different orders, if the magnitudes of their
// contributions add up to `magnitude`.
double roundingOf(TenonDataType type, double magnitude);

void checkOperator(Case& c, const Subject& subject);

// Draws a layout on the grid, and its halo exchange.
Subject drawHaloExchange(Case& c, const GridSpec& grid);

} // namespace tenon::tools
