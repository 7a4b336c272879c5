// SPDX-License-Identifier: BSD-2-Clause
// The memory operators beneath every movement of data (Hewett and Grady 2020, Section 2 and
// Appendix A). With a tensor's local array as the memory, a and b two boxes of it, and c the rest:
//
//     allocate A_b  x_a             -> (x_a, 0_b)              A_b* = D_b, deallocate
//     clear    K_b  (x_c, x_b)      -> (x_c, 0_b)              K_b* = K_b
//     add      S_ab (x_c, x_a, x_b) -> (x_c, x_a, x_a + x_b)   S_ab* = S_ba
//     copy     C_ab (x_c, x_a, x_b) -> (x_c, x_a, x_a)         C_ab = S_ab K_b
//     move     M_ab (x_c, x_a, x_b) -> (x_c, 0_a, x_a)         M_ab = K_a S_ab K_b, M_ab* = M_ba
//
// Each is a sum of terms E_t E_s^T that add a box s of x to a box t of y, so its adjoint is the
// same list with s and t exchanged. Boxes count elements of the local array from 0; ranks may pass
// different ones, empty ones too.
#pragma once

#include "geometry/layout/coverage.hpp"
#include "linop/linear_op.hpp"

namespace tenon {

// The caller's part of a halo exchange. With E the extension into the layout G, zero in the
// caller's elements, the filled array is
//
//     E x + M v        v in G, M the mask of the caller's elements: M = M*, local
//     E x + M 1 c      c a number, held beside every part that has such elements
//
// so the second term is added by apply(1, v, 1, g) after the halo exchange. Its adjoint gives v its
// own cotangent: M g in G*, or the sum of the elements of M g, a contribution of c's on each rank.

// Makes M on a layout, of type "boundaryvalues". Throws TENON_ERR_LAYOUT if no side of the layout
// is the caller's.
LinearOpRef boundaryValues(const CommPtr& comm, const Layout& layout, TenonDataType type);

// M 1, from boundaryScalar(layout) to the layout. Its constructor throws the same error, and also
// for a halo of partial sums.
class BoundaryConstant final : public LinearOp {
public:
  BoundaryConstant(const CommPtr& comm, const Layout& layout, TenonDataType type);
  std::string_view type() const noexcept override { return "boundaryconstant"; }

private:
  void doEnd(const Action& action) override;

  std::vector<ElementBox> elements_;
};

// Operators without communication whose range holds the same boxes as their domain: the identity
// I* = I, the cast from one floating type to another, whose adjoint casts back, and the zero
// operator, which may have any range.
//
// Rounding makes a cast to float32 linear only on numbers that float32 holds; on those the adjoint
// identity is exact.

// Casts, and is the identity where both types are equal. Throws TENON_ERR_DATATYPE for a cast from
// or to integers.
class Cast final : public LinearOp {
public:
  Cast(CommPtr comm, const Layout& layout, TenonDataType from, TenonDataType to);
  std::string_view type() const noexcept override {
    return domainType() == rangeType() ? "identity" : "cast";
  }

private:
  void doEnd(const Action& action) override;
};

class Zero final : public LinearOp {
public:
  Zero(CommPtr comm, Layout from, Layout to, TenonDataType type);
  std::string_view type() const noexcept override { return "zero"; }

private:
  void doEnd(const Action& action) override;
};

class MemoryOp final : public LinearOp {
public:
  // The arrays of `to` begin at element `at` with those of `from`; the elements around are new.
  static Ref<MemoryOp> allocate(CommPtr comm, const Layout& from, const Layout& to,
                                const std::vector<Index>& at, TenonDataType type);
  static Ref<MemoryOp> clear(CommPtr comm, const Layout& layout, const Box& b, TenonDataType type);
  // b begins at element `to` and has the extents of a; they must not overlap.
  static Ref<MemoryOp> add(CommPtr comm, const Layout& layout, const Box& a,
                           const std::vector<Index>& to, TenonDataType type);
  static Ref<MemoryOp> copy(CommPtr comm, const Layout& layout, const Box& a,
                            const std::vector<Index>& to, TenonDataType type);
  static Ref<MemoryOp> move(CommPtr comm, const Layout& layout, const Box& a,
                            const std::vector<Index>& to, TenonDataType type);
  // Keeps disjoint boxes and clears the rest; `name` lives as long as the program.
  static Ref<MemoryOp> mask(const char* name, CommPtr comm, const Layout& layout,
                            const std::vector<ElementBox>& boxes, TenonDataType type);

  std::string_view type() const noexcept override { return name_; }

private:
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
