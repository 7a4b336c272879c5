// SPDX-License-Identifier: BSD-2-Clause
#include "linop/algebra/shell.hpp"

#include "dtensor/arithmetic.hpp"

#include <fmt/format.h>

namespace tenon {

Shell::Shell(const CommPtr& comm, const Layout& domain, const Layout& range,
             TenonDataType domainType, TenonDataType rangeType, Functions functions)
    : LinearOp(comm, domain, range, domainType, rangeType), functions_(std::move(functions)) {}

Shell::~Shell() {
  if (destroy_)
    destroy_();
}

std::string Shell::agreedText() const {
  return LinearOp::agreedText() + (functions_.applyAdjoint ? "" : "; without an adjoint");
}

void Shell::doEnd(const Action& action) {
  const bool forward = action.sense == Sense::Forward;
  const auto& map = forward ? functions_.apply : functions_.applyAdjoint;
  if (!map)
    throw Error(
        TENON_ERR_SUPPORT,
        fmt::format("{} of type {} does not have a function for {}; pass one when creating it",
                    title(), type(), forward ? "apply" : "applyAdjoint"));
  if (action.isPlain())
    return map(*action.x, *action.y);
  const Space space = action.x->space();
  DTensor& result = *(forward ? results_ : adjointResults_).of(space, [&] {
    return std::make_unique<Ref<DTensor>>(
        makeRef<DTensor>(comm(), action.y->layout(), action.y->dataType(), space));
  });
  map(*action.x, result);
  axpby(action.alpha, result, action.beta, *action.y);
}

} // namespace tenon
