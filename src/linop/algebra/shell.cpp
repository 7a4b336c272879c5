// SPDX-License-Identifier: BSD-2-Clause
// Calls the user's two functions, and adds what these need not know: alpha and beta. A plain action
// goes straight into the caller's tensor; only others need a tensor for the result, which is kept
// for the next time.
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

// Whether there is an adjoint is part of the text: if some ranks had none, they would report an
// error while the others wait in the function.
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
  // The two senses have results in different layouts, and the user's function works in the space of
  // its input.
  DTensor& result = *(forward ? results_ : adjointResults_).of(space, [&] {
    return std::make_unique<Ref<DTensor>>(
        makeRef<DTensor>(comm(), action.y->layout(), action.y->dataType(), space));
  });
  map(*action.x, result);
  axpby(action.alpha, result, action.beta, *action.y);
}

} // namespace tenon
