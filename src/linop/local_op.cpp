// SPDX-License-Identifier: BSD-2-Clause
#include "linop/local_op.hpp"

#include "linop/local_update.hpp"

namespace tenon {

Cast::Cast(CommPtr comm, const Layout& layout, TenonDataType from, TenonDataType to)
    : LinearOp(std::move(comm), layout, layout, from, to) {
  if (from == to)
    return;
  checkFloating(from, "a cast");
  checkFloating(to, "a cast");
}

void Cast::doEnd(const Action& action) {
  axpby(action.alpha, *action.x, action.beta, *action.y);
}

Zero::Zero(CommPtr comm, Layout from, Layout to, TenonDataType type)
    : LinearOp(std::move(comm), std::move(from), std::move(to), type) {}

void Zero::doEnd(const Action& action) {
  scaleArray(action.beta, *action.y);
}

} // namespace tenon
