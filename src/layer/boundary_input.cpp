// SPDX-License-Identifier: BSD-2-Clause
#include "layer/boundary_input.hpp"

#include "geometry/callers_cells.hpp"
#include "layer/held_bytes.hpp"
#include "layer/saved.hpp"
#include "layer/traffic_text.hpp"
#include "linop/boundary_op.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

bool isNumber(const Layout& layout) {
  return layout.shape() == Shape{1} && !layout.hasMargins();
}

} // namespace

BoundaryInput::BoundaryInput(const Layer& layer, const Layout& use, const Layout& given)
    : given_(given) {
  if (!isNumber(given) && !(given == use))
    throw Error(TENON_ERR_LAYOUT,
                fmt::format("the boundary values of {} have layout {}; pass them in the layout of "
                            "TenonLayerGetBoundaryLayout(), {}, or as one number of shape [1]",
                            layer.title(), given.describe(), use.describe()));
  if (!hasCallersSide(use))
    return;
  if (!isNumber(given)) {
    mask_ = boundaryValues(layer.comm(), use, layer.dataType());
    return;
  }
  mask_ = makeRef<BoundaryConstant>(layer.comm(), use, layer.dataType());
  if (given == mask_->domain())
    return;
  toUse_ = makeRef<Conversion>(layer.comm(), given, mask_->domain(), layer.dataType());
  number_ = makeRef<DTensor>(layer.comm(), mask_->domain(), layer.dataType());
  numberDual_ = makeRef<DTensor>(layer.comm(), mask_->domain().dual(), layer.dataType());
}

void BoundaryInput::add(const DTensor& v, DTensor& use) {
  if (!mask_)
    return;
  if (toUse_)
    toUse_->apply(v, *number_);
  mask_->apply(1, toUse_ ? *number_ : v, 1, use);
}

void BoundaryInput::adjoint(const DTensor& dUse, DTensor& dv) {
  if (!mask_)
    return zeroLocal(dv);
  mask_->applyAdjoint(dUse, toUse_ ? *numberDual_ : dv);
  if (toUse_)
    toUse_->applyAdjoint(*numberDual_, dv);
}

std::string BoundaryInput::describe() const {
  return viewLine("boundary values", given_, toUse_.get(), given_.mesh());
}

Index BoundaryInput::bytes() const {
  return heldBytes(toUse_, number_, numberDual_);
}

} // namespace tenon
