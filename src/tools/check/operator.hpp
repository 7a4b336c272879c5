// SPDX-License-Identifier: BSD-2-Clause
// What `tenon check` asks of an operator that moves values: in both directions the values that the
// definition of its layouts gives, the same bits on all copies, and the adjoint identity. On small
// integers values and identity are exact; on reals they are so to rounding, and copies show the
// order of the contributions.
#pragma once

#include "tools/check/case.hpp"
#include "tools/check/field.hpp"

namespace tenon::tools {

// An operator, and what the definition says it does: `factor` times the tensor's value, which
// passes the layouts between.
struct Subject {
  LinearOp op = {};
  LayoutSpec from = {}, to = {};
  TenonDataType fromType = TENON_FLOAT64, toType = TENON_FLOAT64;
  double factor = 1;
  double spread = 1; // sum of the magnitudes of factors that may cancel in it
  std::vector<LayoutSpec> between = {};

  // The subject for the operator's adjoint; its op is left empty.
  Subject adjoint() const;
};

// What y must be: the value that came, plus beta times what y was filled with before, to a
// tolerance. It is compared element by element where the layout says what each rank holds, and
// otherwise as a sum; copies must be equal bit by bit.
struct Expected {
  Values moved;
  double beta;
  Filling before;
  double tolerance;
};
void compareOutput(Case& c, const LayoutSpec& to, const Field& y, const Expected& expected,
                   const std::string& what);

// How far sums in any order may be from each other, if the magnitudes of their contributions add up
// to `magnitude`.
double roundingOf(TenonDataType type, double magnitude);

void checkOperator(Case& c, const Subject& subject);

} // namespace tenon::tools
