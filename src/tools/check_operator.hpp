// SPDX-License-Identifier: BSD-2-Clause
// What `tenon check` asks of an operator that moves values: in both directions the values that the
// definition of its layouts gives, and the adjoint identity. On small integers both are exact.
#pragma once

#include "tools/check_case.hpp"
#include "tools/field.hpp"

namespace tenon::tools {

// An operator, and what the definition says it does: `factor` times the tensor's value, which passes
// the layouts between.
struct Subject {
  LinearOp op = {};
  LayoutSpec from = {}, to = {};
  TenonDataType fromType = TENON_FLOAT64, toType = TENON_FLOAT64;
  double factor = 1;
  std::vector<LayoutSpec> between = {};

  // The same for the operator's adjoint; op is left empty.
  Subject adjoint() const;
};

// Whether y, in layout `to`, is the value that came plus beta times what it was filled with before:
// cell by cell where the layout says what each rank holds, else summed; and equal on all copies.
void compareOutput(Case& c, const LayoutSpec& to, const Field& y, const Values& moved, double beta,
                   const Filling& before, const std::string& what);

void checkOperator(Case& c, const Subject& subject);

} // namespace tenon::tools
