// SPDX-License-Identifier: BSD-2-Clause
// Calls the user's two functions and applies alpha and beta to their results. A plain action
// (alpha = 1, beta = 0) writes directly into the caller's tensor; others need a tensor for the
// result, which is retained for the next call.
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

// The text says whether there is an adjoint: if only some ranks had one, they would wait in the
// user's function while the others report an error.
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
  // The results of the two senses have different layouts, and the user's function works in the
  // space of its input.
  DTensor& result = *(forward ? results_ : adjointResults_).of(space, [&] {
    return std::make_unique<Ref<DTensor>>(
        makeRef<DTensor>(comm(), action.y->layout(), action.y->dataType(), space));
  });
  map(*action.x, result);
  axpby(action.alpha, result, action.beta, *action.y);
}

} // namespace tenon
