// SPDX-License-Identifier: BSD-2-Clause
// The calls that create linear operators from layouts (conversions, boundary values) and
// from operators (compositions, linear combinations, block diagonals, adjoints). All are
// collective: create.hpp has their bodies, in which the ranks agree on layouts and data types. A
// conversion redistributes a tensor from one layout to another. A halo exchange is the conversion
// to the same layout with ghost cells: TenonLinearOpCreateHalo() creates the operator of
// TenonLinearOpCreateConversion(), but checks first that the layouts differ in their halos only. A
// mistake in a layout is then an error instead of an expensive redistribution.
#include "capi/linearop/create.hpp"

#include "geometry/layout/layout.hpp"
#include "linop/algebra/composition.hpp"
#include "linop/algebra/memory_op.hpp"
#include "linop/exchange/block_diagonal.hpp"
#include "linop/exchange/make_conversion.hpp"
#include "sys/errors/guard.hpp"

#include <tenon/linearop_create.h>

#include <utility>
#include <vector>

using namespace tenon;

namespace {

// True for the dual of a layout with a halo, whose ghost cells hold contributions to be added.
bool holdsPartialSums(const Layout& layout) {
  for (int d = 0; d < layout.ndim(); ++d)
    if (layout.halo(d) && layout.halo(d)->isPartial)
      return true;
  return false;
}

// Throws unless the layouts are equal apart from a halo of `to`.
void checkHalo(const Layout& from, const Layout& to) {
  if (!to.hasHalos())
    throw Error(TENON_ERR_LAYOUT, fmt::format("a halo exchange fills the halo of `to`, but `to` is "
                                              "{} and has none; call TenonLayoutSetHalo() on it",
                                              to.describe()));
  for (const auto& [layout, name] : {std::pair(&from, "from"), std::pair(&to, "to")})
    if (holdsPartialSums(*layout))
      throw Error(TENON_ERR_LAYOUT,
                  fmt::format("`{}` is {}, the dual of a layout with a halo; pass layouts with "
                              "values, and use TenonLinearOpCreateAdjoint() for the adjoint",
                              name, layout->describe()));
  if (!(to.withoutHalos() == from.withoutHalos()))
    throw Error(TENON_ERR_LAYOUT, fmt::format("a halo exchange needs the same layout without and "
                                              "with a halo, but from is {}, and to is {}",
                                              from.describe(), to.describe()));
}

// The body of CreateConversion and CreateHalo; check(from, to) throws for layouts that do not fit.
template <class Check>
void createConversion(TenonLayout from, TenonLayout to, TenonDataType type, TenonLinearOp* op,
                      Check check) {
  createBetween({from, to}, op, [&](const CommPtr& comm, const Layout& a, const Layout& b) {
    check(a, b);
    return makeConversion(comm, a, b, type);
  });
}

// Returns references to the operators of a list, each handle checked.
std::vector<LinearOpRef> refsOf(const TenonLinearOp* ops, int count) {
  std::vector<LinearOpRef> refs;
  for (TenonLinearOp op : listOf(ops, count, "ops"))
    refs.push_back(LinearOpRef::share(&deref(op, fmt::format("ops[{}]", refs.size()).c_str())));
  return refs;
}

// The communicator of the first valid handle in the list, as in commOf(). If there is none,
// refsOf() throws with the position of the first invalid handle, unless the list is empty.
CommPtr commOfList(const TenonLinearOp* ops, int count) {
  for (int i = 0; ops && i < count; ++i)
    if (isLiveObject(ops[i]))
      return deref(ops[i], "ops").comm();
  refsOf(ops, count);
  throw Error(TENON_ERR_ARG, "count is 0; pass at least 1 operator");
}

// The body of a composition, sum or block diagonal: how(operators) returns the operator.
template <class Combine>
void combine(int count, const TenonLinearOp* ops, TenonLinearOp* op, Combine how) {
  checkInitialized();
  const CommPtr comm = commOfList(ops, count);
  createOp(*comm, op, "op", [&] { return how(refsOf(ops, count)); });
}

} // namespace

TenonErrorCode TenonLinearOpCreateConversion(TenonLayout from, TenonLayout to, TenonDataType type,
                                             TenonLinearOp* op) noexcept {
  return guard(__func__,
               [&] { createConversion(from, to, type, op, [](const Layout&, const Layout&) {}); });
}

TenonErrorCode TenonLinearOpCreateHalo(TenonLayout from, TenonLayout to, TenonDataType type,
                                       TenonLinearOp* op) noexcept {
  return guard(__func__, [&] { createConversion(from, to, type, op, checkHalo); });
}

TenonErrorCode TenonLinearOpCreateBoundaryValues(TenonLayout layout, TenonDataType type,
                                                 TenonBool constant, TenonLinearOp* op) noexcept {
  return guard(__func__, [&] {
    createOn(layout, op, [&](const CommPtr& comm, const Layout& on) -> LinearOpRef {
      if (constant == TENON_FALSE)
        return boundaryValues(comm, on, type);
      return makeRef<BoundaryConstant>(comm, on, type);
    });
  });
}

TenonErrorCode TenonLinearOpCreateComposition(int count, const TenonLinearOp ops[],
                                              TenonLinearOp* op) noexcept {
  return guard(__func__, [&] { combine(count, ops, op, compose); });
}

TenonErrorCode TenonLinearOpCreateSum(int count, const TenonLinearOp ops[], const double factors[],
                                      TenonLinearOp* op) noexcept {
  return guard(__func__, [&] {
    combine(count, ops, op, [&](std::vector<LinearOpRef> terms) {
      const std::vector<double> multiples =
          factors ? listOf(factors, count, "factors") : std::vector<double>(terms.size(), 1);
      for (std::size_t i = 0; i < terms.size(); ++i)
        if (multiples[i] != 1)
          terms[i] = scale(multiples[i], std::move(terms[i]));
      return sum(std::move(terms));
    });
  });
}

TenonErrorCode TenonLinearOpCreateBlockDiagonal(int count, const TenonLinearOp ops[],
                                                TenonLinearOp* op) noexcept {
  return guard(__func__, [&] {
    combine(count, ops, op, [](const std::vector<LinearOpRef>& blocks) {
      return blockDiagonal(blocks, CarrierPolicy::fromOptions());
    });
  });
}

TenonErrorCode TenonLinearOpCreateAdjoint(TenonLinearOp op, TenonLinearOp* adjoint) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    LinearOp& forward = deref(op, "op");
    createOp(*forward.comm(), adjoint, "adjoint",
             [&] { return adjointView(LinearOpRef::share(&forward)); });
  });
}
