// SPDX-License-Identifier: BSD-2-Clause
// Operators without communication whose range holds the same boxes as their domain: the identity
// I* = I, the cast from one floating type to another, whose adjoint casts back, and the zero
// operator, which may have any range.
//
// Rounding makes a cast to float32 linear only on numbers that float32 holds; on those the adjoint
// identity is exact.
#pragma once

#include "linop/linear_op.hpp"

namespace tenon {

// The identity where both types are equal. Throws TENON_ERR_DATATYPE for a cast from or to
// integers.
class Cast final : public LinearOp {
public:
  Cast(CommPtr comm, const Layout& layout, TenonDataType from, TenonDataType to);
  const char* type() const noexcept override {
    return domainType() == rangeType() ? "identity" : "cast";
  }

private:
  void doEnd(const Action& action) override;
};

class Zero final : public LinearOp {
public:
  Zero(CommPtr comm, Layout from, Layout to, TenonDataType type);
  const char* type() const noexcept override { return "zero"; }

private:
  void doEnd(const Action& action) override;
};

} // namespace tenon
