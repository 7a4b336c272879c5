// SPDX-License-Identifier: BSD-2-Clause
#include "layer/loss.hpp"

#include "layer/composed_setup.hpp"
#include "linop/make_conversion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

TargetUse::TargetUse(const Layer& layer, const Layout& use, std::optional<TenonDataType> type)
    : layer_(layer), type_(type), use_(use) {}

void TargetUse::checkTarget(const DTensor& target, TenonDataType type) const {
  if (target.dataType() != type)
    throw Error(TENON_ERR_DATATYPE,
                fmt::format("the target of {0} must be {1}, but {2} is {3}", layer_.title(),
                            dataTypeName(type), target.title(), dataTypeName(target.dataType())));
  if (target.layout().shape() != use_.shape())
    throw Error(TENON_ERR_SHAPE,
                fmt::format("the target of {} must have shape [{}], but {} has [{}]",
                            layer_.title(), fmt::join(use_.shape(), ","), target.title(),
                            fmt::join(target.layout().shape(), ",")));
}

void TargetUse::begin() {
  const DTensor& target = layer_.target();
  const TenonDataType type = type_                                ? *type_
                             : target.dataType() == TENON_FLOAT32 ? TENON_FLOAT32
                                                                  : TENON_FLOAT64;
  checkTarget(target, type);
  if (!value_ || value_->dataType() != type)
    value_ = makeRef<DTensor>(layer_.comm(), use_, type);
  if (!conversion_ || !(conversion_->domain() == target.layout()) ||
      conversion_->domainType() != type)
    conversion_ = makeConversion(layer_.comm(), target.layout(), use_, type);
  conversion_->start({Sense::Forward, 1, &target, 0, value_.get()});
}

std::unique_ptr<Setup> setUpLoss(Layer& layer, const Form& form, const MakeKernel& make) {
  return setUpComposed(layer, form, make);
}

} // namespace tenon
