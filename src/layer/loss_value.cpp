// SPDX-License-Identifier: BSD-2-Clause
#include "layer/loss_value.hpp"

#include "declaration/signature.hpp"
#include "layer/held_bytes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

namespace {

// [1], with the properties of `use` but for `split` on the axes that split it.
Layout scalarLayout(const Layout& use, Property split) {
  Properties properties = use.properties();
  for (Property& p : properties)
    if (p.isShard())
      p = split;
  return makeLayout({1}, use.meshPtr(), properties, {CutSource()});
}

} // namespace

void takeTarget(const Layer& layer, DTensor& here, Ref<Conversion>& conversion) {
  const DTensor& target = layer.target();
  if (target.dataType() != here.dataType())
    throw Error(TENON_ERR_DATATYPE, fmt::format("the target of {0} must be {1}, but {2} is {3}",
                                                layer.title(), dataTypeName(here.dataType()),
                                                target.title(), dataTypeName(target.dataType())));
  if (target.layout().shape() != here.layout().shape())
    throw Error(TENON_ERR_SHAPE,
                fmt::format("the target of {} must have shape [{}], but {} has [{}]", layer.title(),
                            fmt::join(here.layout().shape(), ","), target.title(),
                            fmt::join(target.layout().shape(), ",")));
  if (!conversion || !(conversion->domain() == target.layout()))
    conversion = makeRef<Conversion>(layer.comm(), target.layout(), here.layout(), here.dataType());
  conversion->apply(target, here);
}

LossValue::LossValue(const CommPtr& comm, const Layout& use, TenonDataType type)
    : addend_(makeRef<DTensor>(comm, scalarLayout(use, Property::partial()), type)),
      seed_(makeRef<DTensor>(comm, addend_->layout().dual(), type)),
      toAll_(makeRef<Conversion>(comm, addend_->layout(), scalarLayout(use, Property::broadcast()),
                                 type)) {}

void LossValue::sum(double addend, DTensor& loss) {
  visitFloating(addend_->dataType(), [&]<class T>(T) {
    T* held = addend_->mutableData<T>();
    if (isHeld())
      held[0] = static_cast<T>(addend);
  });
  toAll_->apply(*addend_, loss);
}

double LossValue::seed(const DTensor& cotangent) {
  toAll_->applyAdjoint(cotangent, *seed_);
  return visitFloating(seed_->dataType(), [&]<class T>(T) {
    const DTensor& seed = *seed_;
    return isHeld() ? static_cast<double>(seed.data<T>()[0]) : 0.0;
  });
}

Index LossValue::bytes() const {
  return heldBytes(addend_, seed_, toAll_);
}

} // namespace tenon
