// SPDX-License-Identifier: BSD-2-Clause
// Tests of the check itself: an operator with a wrong adjoint, and a rank that does not reach a
// barrier. `tenon check -only broken` and `-only stuck` must report them. They are never drawn
// without -only: a check of a machine must not fail because of them. The functions are declared in
// kinds.hpp.
#include "tools/check/kinds.hpp"
#include "tools/check/layout_make.hpp"
#include "tools/check/operators/operator.hpp"

namespace tenon::tools {

namespace {

// F is the identity; the function that is passed as its adjoint multiplies by 2.
TenonErrorCode copy(TenonDTensor x, TenonDTensor y, void*) {
  return TenonDTensorCopy(x, y);
}

TenonErrorCode twice(TenonDTensor y, TenonDTensor x, void*) {
  return TenonDTensorAXPBY(2, y, 0, x);
}

} // namespace

void checkBroken(Case& c) {
  const LayoutSpec spec = drawLayout(c.draw, {c.draw.between(2, 7), 3}, drawGrid(c.draw, c.ranks));
  Subject s{.from = spec, .to = spec, .fromType = TENON_FLOAT64, .toType = TENON_FLOAT64};
  c.text += " on " + spec.text();
  const Layout layout = makeLayout(c.comm, spec);
  require(TenonLinearOpCreateShell(layout, layout, TENON_FLOAT64, TENON_FLOAT64, copy, twice,
                                   nullptr, nullptr, s.op.out()));
  checkOperator(c, s);
}

void checkStuck(Case& c) {
  if (c.rank == 0)
    throw std::runtime_error("rank 0 leaves the others waiting");
  MPI_Barrier(c.comm);
}

} // namespace tenon::tools
