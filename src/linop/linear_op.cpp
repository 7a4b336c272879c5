// SPDX-License-Identifier: BSD-2-Clause
#include "linop/linear_op.hpp"

#include "sys/log.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

void checkDistinct(const LinearOp& op, const DTensor& x, const DTensor& y) {
  if (&x == &y)
    throw Error(TENON_ERR_ARG,
                fmt::format("{} needs two tensors, but input and output are the same", op.title()));
}

} // namespace

LinearOp::LinearOp(CommPtr comm, Layout domain, Layout range, TenonDataType type)
    : Object(kClass), comm_(std::move(comm)), domain_(std::move(domain)),
      domainDual_(domain_.dual()), range_(std::move(range)), rangeDual_(range_.dual()),
      type_(type) {}

std::string LinearOp::describe() const {
  return fmt::format("{} ({}, {}): {} -> {}", title(), type(), dataTypeName(type_),
                     domain_.describe(), range_.describe());
}

void LinearOp::apply(const DTensor& x, DTensor& y) {
  static const int event = logEvent("LinearOpApply");
  const LogScope scope(event);
  checkTensor(x, domain_, type_, title(), "input");
  checkTensor(y, range_, type_, title(), "output");
  checkDistinct(*this, x, y);
  doApply(x, y);
}

void LinearOp::applyAdjoint(const DTensor& y, DTensor& x) {
  static const int event = logEvent("LinearOpAdjoint");
  const LogScope scope(event);
  checkTensor(y, rangeDual_, type_, title(), "adjoint input");
  checkTensor(x, domainDual_, type_, title(), "adjoint output");
  checkDistinct(*this, x, y);
  doApplyAdjoint(y, x);
}

} // namespace tenon
