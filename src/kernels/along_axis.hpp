// SPDX-License-Identifier: BSD-2-Clause
// On the device: functors and sums along the middle dimension of arrays [outer, n, inner].
#pragma once

#include "kernels/axis_shape.hpp"
#include "kernels/device_reduce.hpp"
#include "kernels/each.hpp"
#include "kernels/functors/axis.hpp"

namespace tenon {

namespace device {

// `what` as in checkCells().
template <class F>
void eachAlongAxis(KernelContext& context, const AxisShape& shape, const char* what, const F& f) {
  const Index extent[] = {shape.outer, shape.n, shape.inner}, steps[] = {shape.inner, 0, 1};
  const Index cells = shape.outer * shape.n * shape.inner;
  checkCells(cells, what);
  if (cells > 0)
    eachElement(context.stream(), cells, functors::AlongAxis<F>{{3, extent, {steps}}, f});
}

// use(place in [outer, inner], Op of its terms)
template <class Op, class Wide, class Term, class Use>
void reduceAlongAxis(KernelContext& context, const AxisShape& shape, const char* what,
                     const Term& term, Wide neutral, const Use& use) {
  const Index extent[] = {shape.outer, shape.inner}, steps[] = {shape.n * shape.inner, 1};
  const Index groups = shape.outer * shape.inner;
  checkCells(groups, what);
  if (groups > 0)
    reduceEach<Op>(context, groups, shape.n,
                   functors::AxisTerm<Wide, Term>{{2, extent, {steps}}, shape.inner, term}, neutral,
                   use);
}

} // namespace device

} // namespace tenon
