// SPDX-License-Identifier: BSD-2-Clause
// The memory operators, which act within each rank's local array: clear a box, or add, copy or move
// one box to another. Boxes are half-open ranges [low, high) of local indices, counted from 0, and
// can differ between ranks. So the ranks agree on layout and data type only. The calls are declared
// in tenon/ext/linearop.h.
#include "capi/linearop/create.hpp"

#include "linop/algebra/memory_op.hpp"
#include "sys/errors/guard.hpp"
#include "sys/text/text.hpp"

#include <tenon/ext/linearop.h>

using namespace tenon;

namespace {

// The box [low, high) of local indices; low = high is an empty one.
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

// A function that makes an operator from a box to a second box of equal extents, given by its first
// index.
using FromBoxToBox = Ref<MemoryOp>(CommPtr, const Layout&, const Box&, const std::vector<Index>&,
                                   TenonDataType);

// The operators between two boxes by their names in TenonLinearOpCreateMemory().
struct NamedOperator {
  const char* name;
  FromBoxToBox* make;
};
constexpr NamedOperator kBetweenBoxes[] = {
    {"add", MemoryOp::add}, {"copy", MemoryOp::copy}, {"move", MemoryOp::move}};

// Throws TENON_ERR_TYPE for an unknown name, with the nearest one. The name "clear" is listed for
// the error text only: its operator has one box and is made by the caller.
FromBoxToBox* operatorNamed(const std::string& name) {
  std::vector<std::string> names{"clear"};
  for (const NamedOperator& entry : kBetweenBoxes) {
    if (name == entry.name)
      return entry.make;
    names.emplace_back(entry.name);
  }
  throw Error(TENON_ERR_TYPE, fmt::format("there is no memory operator '{}'; the nearest is '{}', "
                                          "the operators are {}",
                                          name, nearest(name, names), joined(names)));
}

} // namespace

TenonErrorCode TenonLinearOpCreateAllocate(TenonLayout from, TenonLayout to, const TenonInt at[],
                                           TenonDataType type, TenonLinearOp* op) noexcept {
  return guard(__func__, [&] {
    createBetween({from, to}, op, [&](const CommPtr& comm, const Layout& a, const Layout& b) {
      return MemoryOp::allocate(comm, a, b, listOf(at, a.ndim(), "at"), type);
    });
  });
}

TenonErrorCode TenonLinearOpCreateMemory(TenonLayout layout, const char* name, const TenonInt low[],
                                         const TenonInt high[], const TenonInt to[],
                                         TenonDataType type, TenonLinearOp* op) noexcept {
  return guard(__func__, [&] {
    createOn(layout, op, [&](const CommPtr& comm, const Layout& on) {
      const std::string kind = textOf(name, "name");
      if (kind == "clear" && to)
        throw Error(TENON_ERR_ARG, "to is not NULL, but clear has no second box; pass NULL");
      if (kind == "clear")
        return MemoryOp::clear(comm, on, boxOf(low, high, on.ndim()), type);
      FromBoxToBox* const make = operatorNamed(kind);
      return make(comm, on, boxOf(low, high, on.ndim()), listOf(to, on.ndim(), "to"), type);
    });
  });
}
