// SPDX-License-Identifier: BSD-2-Clause
#include "linop/boundary_op.hpp"

#include "dtensor/arithmetic.hpp"
#include "geometry/callers_cells.hpp"
#include "kernels/block_axpby.hpp"
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

// Of the cells of a box whose first is *x.
template <class Sum, class T>
Sum sumOf(const T* x, const Shape& extent, const Index* strides, std::size_t d = 0) {
  if (d == extent.size())
    return static_cast<Sum>(*x);
  Sum sum = 0;
  for (Index i = 0; i < extent[d]; ++i)
    sum += sumOf<Sum>(x + i * strides[d], extent, strides, d + 1);
  return sum;
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
    using Sum = std::conditional_t<std::is_integral_v<T>, T, double>;
    static constexpr Strides kSame{};
    const T alpha = static_cast<T>(action.alpha);
    const T* from = x.data<T>();
    T* to = y.mutableData<T>();
    Sum sum = 0;
    for (const auto& [begin, extent] : cells_) {
      if (action.sense == Sense::Forward)
        blockAxpby(y.rank(), extent.data(), alpha, from, kSame.data(), T(1),
                   to + offsetOf(begin, y.strides()), y.strides().data());
      else
        sum += sumOf<Sum>(from + offsetOf(begin, x.strides()), extent, x.strides().data());
    }
    if (action.sense == Sense::Adjoint && y.localCells() > 0)
      *to += static_cast<T>(action.alpha * sum);
  });
}

Layout boundaryScalar(const Layout& layout) {
  Properties properties = layout.properties();
  for (Property& p : properties)
    if (p.isShard())
      p = Property::broadcast();
  return Layout({.shape = {1}, .mesh = layout.meshPtr(), .properties = std::move(properties)});
}

} // namespace tenon
