// SPDX-License-Identifier: BSD-2-Clause
#include "linop/shell.hpp"

#include "dtensor/arithmetic.hpp"

#include <fmt/format.h>

namespace tenon {

Shell::Shell(const CommPtr& comm, const Layout& domain, const Layout& range,
             TenonDataType domainType, TenonDataType rangeType, Functions functions)
    : LinearOp(comm, domain, range, domainType, rangeType), functions_(std::move(functions)),
      result_(makeRef<DTensor>(comm, range, rangeType)),
      adjointResult_(makeRef<DTensor>(comm, domain.dual(), domainType)) {}

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
  DTensor& result = forward ? *result_ : *adjointResult_;
  map(*action.x, result);
  axpby(action.alpha, result, action.beta, *action.y);
}

} // namespace tenon
