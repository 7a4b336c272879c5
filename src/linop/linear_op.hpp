// SPDX-License-Identifier: BSD-2-Clause
// A linear map F from tensors in one layout to tensors in another, and its adjoint F*, which maps
// the range's dual to the domain's dual:  <F x, y> = <x, F* y>  with the pairing of measure.hpp.
#pragma once

#include "dtensor/dtensor.hpp"

namespace tenon {

class LinearOp : public Object {
public:
  static constexpr const char* kClass = "LinearOp";

  const CommPtr& comm() const noexcept { return comm_; }
  const Layout& domain() const noexcept { return domain_; }
  const Layout& range() const noexcept { return range_; }
  TenonDataType dataType() const noexcept { return type_; }
  virtual const char* type() const noexcept = 0;
  virtual std::string describe() const;

  // y <- F x. Collective. x in the domain, y in the range; they must not share memory.
  void apply(const DTensor& x, DTensor& y);
  // x <- F* y. Collective. y in the range's dual, x in the domain's dual.
  void applyAdjoint(const DTensor& y, DTensor& x);

protected:
  LinearOp(CommPtr comm, Layout domain, Layout range, TenonDataType type);
  virtual void doApply(const DTensor& x, DTensor& y) = 0;
  virtual void doApplyAdjoint(const DTensor& y, DTensor& x) = 0;

private:
  CommPtr comm_;
  Layout domain_, domainDual_, range_, rangeDual_;
  TenonDataType type_;
};

using LinearOpRef = Ref<LinearOp>;

// The adjoint as an operator of its own: apply and applyAdjoint exchanged.
LinearOpRef adjointView(LinearOpRef op);

// y <- ops[n-1] ... ops[1] ops[0] x. Throws TENON_ERR_LAYOUT naming the first pair that does not
// fit.
LinearOpRef compose(std::vector<LinearOpRef> ops);

} // namespace tenon
