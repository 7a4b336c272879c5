// SPDX-License-Identifier: BSD-2-Clause
// The memory operators, which act within each rank's local array. A box counts elements of that array from 0 and may
// differ from rank to rank, which is why the ranks agree on the layout and the data type of such an operator and not on
// its boxes.
#include "capi/linearop/create.hpp"

#include "linop/algebra/memory_op.hpp"
#include "sys/errors/guard.hpp"

#include <tenon/linearop_create.h>

using namespace tenon;

namespace {

Box boxOf(const TenonInt* low, const TenonInt* high, int rank) {
  const auto begin = listOf(low, rank, "low"), end = listOf(high, rank, "high");
  Box box;
  for (int d = 0; d < rank; ++d) {
    if (end[d] < begin[d])
      throw Error(TENON_ERR_ARG,
                  fmt::format("high[{}] is {}, but low[{}] is {}; high must be >= low", d, end[d],
                              d, begin[d]));
    box.push_back({begin[d], end[d]});
  }
  return box;
}

using FromBoxToBox = Ref<MemoryOp>(CommPtr, const Layout&, const Box&, const std::vector<Index>&,
                                   TenonDataType);

// A box, and where another of the same extents begins.
struct Boxes {
  const TenonInt *low, *high, *to;
};

TenonErrorCode create(const char* function, FromBoxToBox make, TenonLayout layout,
                      const Boxes& boxes, TenonDataType type, TenonLinearOp* op) {
  return guard(function, [&] {
    createOn(layout, op, [&](const CommPtr& comm, const Layout& on) {
      return make(comm, on, boxOf(boxes.low, boxes.high, on.rank()),
                  listOf(boxes.to, on.rank(), "to"), type);
    });
  });
}

} // namespace

TenonErrorCode TenonLinearOpCreateAllocate(TenonLayout from, TenonLayout to, const TenonInt at[],
                                           TenonDataType type, TenonLinearOp* op) noexcept {
  return guard(__func__, [&] {
    createBetween({from, to}, op, [&](const CommPtr& comm, const Layout& a, const Layout& b) {
      return MemoryOp::allocate(comm, a, b, listOf(at, a.rank(), "at"), type);
    });
  });
}

TenonErrorCode TenonLinearOpCreateClear(TenonLayout layout, const TenonInt low[],
                                        const TenonInt high[], TenonDataType type,
                                        TenonLinearOp* op) noexcept {
  return guard(__func__, [&] {
    createOn(layout, op, [&](const CommPtr& comm, const Layout& on) {
      return MemoryOp::clear(comm, on, boxOf(low, high, on.rank()), type);
    });
  });
}

TenonErrorCode TenonLinearOpCreateAdd(TenonLayout layout, const TenonInt low[],
                                      const TenonInt high[], const TenonInt to[],
                                      TenonDataType type, TenonLinearOp* op) noexcept {
  return create(__func__, MemoryOp::add, layout, {low, high, to}, type, op);
}

TenonErrorCode TenonLinearOpCreateCopy(TenonLayout layout, const TenonInt low[],
                                       const TenonInt high[], const TenonInt to[],
                                       TenonDataType type, TenonLinearOp* op) noexcept {
  return create(__func__, MemoryOp::copy, layout, {low, high, to}, type, op);
}

TenonErrorCode TenonLinearOpCreateMove(TenonLayout layout, const TenonInt low[],
                                       const TenonInt high[], const TenonInt to[],
                                       TenonDataType type, TenonLinearOp* op) noexcept {
  return create(__func__, MemoryOp::move, layout, {low, high, to}, type, op);
}
