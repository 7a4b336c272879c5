// SPDX-License-Identifier: BSD-2-Clause
// The checks of an operator that moves values: in both directions the values by the definition of
// its layouts, bitwise identical copies, and the adjoint identity. For small integers values and
// identity are exact; for real numbers they hold to rounding, and copies reveal the order of the
// contributions.
#pragma once

#include "tools/check/case.hpp"
#include "tools/check/field.hpp"

namespace tenon::tools {

// An operator and its definition: `factor` times the tensor's value, which passes through the
// layouts `between`.
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

// The expected y: the moved value plus beta times the previous value of y, to a tolerance. It is
// compared element by element if the layout defines the elements of each rank, and otherwise as a
// sum; copies must be bitwise identical.
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

} // namespace tenon::tools
