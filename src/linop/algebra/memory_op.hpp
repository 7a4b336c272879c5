// SPDX-License-Identifier: BSD-2-Clause
// Memory operators: the elementary local operations from which data movement is composed (Hewett
// and Grady 2020, Section 2 and Appendix A). The memory is the local array of a tensor; a and b are
// two boxes of it, c is the rest:
//
//     allocate A_b  x_a             -> (x_a, 0_b)              A_b* = D_b, deallocate
//     clear    K_b  (x_c, x_b)      -> (x_c, 0_b)              K_b* = K_b
//     add      S_ab (x_c, x_a, x_b) -> (x_c, x_a, x_a + x_b)   S_ab* = S_ba
//     copy     C_ab (x_c, x_a, x_b) -> (x_c, x_a, x_a)         C_ab = S_ab K_b
//     move     M_ab (x_c, x_a, x_b) -> (x_c, 0_a, x_a)         M_ab = K_a S_ab K_b, M_ab* = M_ba
//
// Each operator is a sum of terms E_t E_s^T. A term adds box s of x to box t of y, so the adjoint
// is the same list of terms with s and t exchanged. Boxes count the elements of the local array
// from 0. Ranks can have different boxes, and empty ones.
#pragma once

#include "geometry/layout/coverage.hpp"
#include "linop/linear_op.hpp"

namespace tenon {

// The user's boundary values in a halo exchange. Let E be the extension into the layout G, zero in
// the elements that the user supplies (boundary mode "values"). The filled array is
//
//     E x + M v        v in G, M the mask of the user's elements: M = M*, local
//     E x + M 1 c      c a number, stored beside every local block that has such elements
//
// The second term is added by apply(1, v, 1, g) after the halo exchange. The adjoint gives
// the cotangent of v, which is M g in G*, or the cotangent of c, to which each rank contributes its
// sum of M g.

// Makes M on a layout, of type "boundaryvalues". Throws TENON_ERR_LAYOUT if no side of the layout
// has boundary mode "values".
LinearOpRef boundaryValues(const CommPtr& comm, const Layout& layout, TenonDataType type);

// M 1, from the layout boundaryScalar(layout) of the number c to `layout`. The constructor throws
// TENON_ERR_LAYOUT if no side of the layout has boundary mode "values", or if a halo is of partial
// sums.
class BoundaryConstant final : public LinearOp {
public:
  BoundaryConstant(const CommPtr& comm, const Layout& layout, TenonDataType type);
  std::string_view type() const noexcept override { return "boundaryconstant"; }

private:
  void doEnd(const Action& action) override;

  std::vector<ElementBox> elements_;
};

// Operators without communication whose range has the same local blocks as their domain: the
// identity I* = I, the cast between floating types, whose adjoint casts back, and the zero
// operator, whose range can be any layout.
//
// Because of rounding, a cast to float32 is linear only on numbers that float32 represents. On such
// numbers the adjoint identity is exact.

// The cast, or the identity if both types are equal. Throws TENON_ERR_DATATYPE for a cast between
// different types one of which is an integer type.
class Cast final : public LinearOp {
public:
  Cast(CommPtr comm, const Layout& layout, TenonDataType from, TenonDataType to);
  std::string_view type() const noexcept override {
    return domainType() == rangeType() ? "identity" : "cast";
  }

private:
  void doEnd(const Action& action) override;
};

// The operator y = 0.
class Zero final : public LinearOp {
public:
  Zero(CommPtr comm, Layout from, Layout to, TenonDataType type);
  std::string_view type() const noexcept override { return "zero"; }

private:
  void doEnd(const Action& action) override;
};

// A memory operator, made by one of the functions below.
class MemoryOp final : public LinearOp {
public:
  // A_b: the array of `from` becomes a box in the array of `to`, which begins at element `at`. All
  // other elements of `to` are 0.
  static Ref<MemoryOp> allocate(CommPtr comm, const Layout& from, const Layout& to,
                                const std::vector<Index>& at, TenonDataType type);
  // K_b.
  static Ref<MemoryOp> clear(CommPtr comm, const Layout& layout, const Box& b, TenonDataType type);
  // S_ab, C_ab and M_ab. The box b begins at element `to` and has the extents of a; a and b must
  // not overlap.
  static Ref<MemoryOp> add(CommPtr comm, const Layout& layout, const Box& a,
                           const std::vector<Index>& to, TenonDataType type);
  static Ref<MemoryOp> copy(CommPtr comm, const Layout& layout, const Box& a,
                            const std::vector<Index>& to, TenonDataType type);
  static Ref<MemoryOp> move(CommPtr comm, const Layout& layout, const Box& a,
                            const std::vector<Index>& to, TenonDataType type);
  // Keeps the values in disjoint boxes and clears the rest. `name` must be a string literal.
  static Ref<MemoryOp> mask(const char* name, CommPtr comm, const Layout& layout,
                            const std::vector<ElementBox>& boxes, TenonDataType type);

  std::string_view type() const noexcept override { return name_; }

private:
  // Adds a box of x to a box of y.
  struct Term {
    Shape extent;
    std::vector<Index> from, to; // first elements in x and in y
  };
  template <class T, class... Args>
  friend Ref<T> makeRef(Args&&... args);
  MemoryOp(const char* name, CommPtr comm, const Layout& from, const Layout& to, TenonDataType type,
           std::vector<Term> terms);

  static std::vector<Term> keep(const std::vector<Box>& boxes);
  void doEnd(const Action& action) override;

  const char* name_;
  std::vector<Term> terms_;
};

} // namespace tenon
