// SPDX-License-Identifier: BSD-2-Clause
// What losses share: a layer that compares its input with a target, and its value, a sum of one
// addend from each part of the input:
//
//   loss = sum over parts of addend,   P on the axes that split the input -> B.
#pragma once

#include "layer/layer.hpp"
#include "linop/conversion.hpp"

namespace tenon {

// here <- the layer's target; the conversion is made where `conversion` is not of its layout. Throws
// TENON_ERR_DATATYPE or TENON_ERR_SHAPE if it does not fit.
void takeTarget(const Layer& layer, DTensor& here, Ref<Conversion>& conversion);

class LossValue {
public:
  // `use` is the input's layout; the output is [1].
  LossValue(const CommPtr& comm, const Layout& use, TenonDataType type);

  const Layout& layout() const { return toAll_->range(); }
  // Whether this rank is one of those that hold an addend.
  bool isHeld() const { return addend_->localCells() > 0; }
  // loss = sum of the addends. Collective.
  void sum(double addend, DTensor& loss);
  // The cotangent of this rank's addend. Collective.
  double seed(const DTensor& cotangent);
  Index bytes() const;

private:
  Ref<DTensor> addend_, seed_;
  Ref<Conversion> toAll_;
};

} // namespace tenon
