// SPDX-License-Identifier: BSD-2-Clause
// The caller's part of a halo exchange. With E the extension into the layout G, zero in the caller's
// cells, the filled array is
//
//     E x + M v        v in G, M the mask of the caller's cells: M = M*, local
//     E x + M 1 c      c a number, held beside every part that has such cells
//
// so the second term is added by apply(1, v, 1, g) after the halo exchange. Its adjoint gives v its
// own cotangent: M g in G*, or the sum of the cells of M g, an addend of c's on each rank.
#pragma once

#include "geometry/coverage.hpp"
#include "linop/linear_op.hpp"

namespace tenon {

// M on a layout, of type "boundaryvalues". Throws TENON_ERR_LAYOUT if no side of the layout is the
// caller's.
LinearOpRef boundaryValues(const CommPtr& comm, const Layout& layout, TenonDataType type);

// M 1, from boundaryScalar(layout) to the layout. Throws likewise, and for a margin of addends.
class BoundaryConstant final : public LinearOp {
public:
  BoundaryConstant(const CommPtr& comm, const Layout& layout, TenonDataType type);
  const char* type() const noexcept override { return "boundaryconstant"; }

private:
  void doEnd(const Action& action) override;

  std::vector<CellBox> cells_;
};

} // namespace tenon
