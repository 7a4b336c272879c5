// SPDX-License-Identifier: BSD-2-Clause
#include "linop/boundary_op.hpp"

#include "dtensor/arithmetic.hpp"
#include "geometry/callers_cells.hpp"
#include "kernels/block_axpby.hpp"
#include "kernels/block_multiply.hpp"
#include "linop/memory_op.hpp"

#include <fmt/format.h>

#include <numeric>

namespace tenon {

namespace {

std::vector<CellBox> cellsOfRank(const Communicator& comm, const Layout& layout) {
  if (!hasCallersSide(layout))
    throw Error(
        TENON_ERR_LAYOUT,
        fmt::format("layout {} has no side with boundary mode \"values\"; set that mode on a halo",
                    layout.describe()));
  return callersCells(layout, layout.mesh().position(comm.rank()));
}

const Layout& ofValues(const Layout& layout) {
  for (int d = 0; d < layout.rank(); ++d)
    if (const auto& margin = layout.margin(d); margin && margin->addends)
      throw Error(TENON_ERR_LAYOUT,
                  fmt::format("a boundary constant fills halo elements, but layout "
                              "{} holds partial sums there; pass its dual",
                              layout.describe()));
  return layout;
}

Index offsetOf(const std::vector<Index>& begin, const Strides& strides) {
  return std::inner_product(begin.begin(), begin.end(), strides.begin(), Index(0));
}

} // namespace

LinearOpRef boundaryValues(const CommPtr& comm, const Layout& layout, TenonDataType type) {
  return MemoryOp::mask("boundaryvalues", comm, layout, cellsOfRank(*comm, layout), type);
}

BoundaryConstant::BoundaryConstant(const CommPtr& comm, const Layout& layout, TenonDataType type)
    : LinearOp(comm, boundaryScalar(ofValues(layout)), layout, type),
      cells_(cellsOfRank(*comm, layout)) {}

void BoundaryConstant::doEnd(const Action& action) {
  const DTensor& x = *action.x;
  DTensor& y = *action.y;
  scaleArray(action.beta, y);
  visitDataType(y.dataType(), [&]<class T>(T) {
    static constexpr Strides kSame{};
    const T alpha = static_cast<T>(action.alpha);
    const T* from = x.data<T>();
    T* to = y.mutableData<T>();
    for (const auto& [begin, extent] : cells_) {
      const int rank = static_cast<int>(extent.size());
      if (action.sense == Sense::Forward)
        blockAxpby(y.context(), rank, extent.data(), alpha, from, kSame.data(), T(1),
                   to + offsetOf(begin, y.strides()), y.strides().data());
      else if (y.localCells() > 0)
        blockMultiplyAdd<T>(y.context(), rank, extent.data(), alpha, nullptr, nullptr,
                            from + offsetOf(begin, x.strides()), x.strides().data(), to,
                            kSame.data());
    }
  });
}

} // namespace tenon
