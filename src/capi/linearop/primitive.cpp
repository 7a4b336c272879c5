// SPDX-License-Identifier: BSD-2-Clause
// The named primitives, such as "allreduce" and "allgather", as linear operators between two
// layouts. The user passes the layout of x (domain), an axis of the process grid and, for some, a
// dimension of the tensor; the layout of y (range) follows. Example: "allgather" along an axis that
// splits dimension 0 has as its range the layout with copies on that axis. makeConversion() then
// chooses the messages, as for any pair of layouts. The call is collective. It is
// declared in tenon/linearop_create.h.
#include "capi/linearop/create.hpp"

#include "linop/algebra/primitive.hpp"
#include "linop/exchange/make_conversion.hpp"
#include "sys/errors/guard.hpp"
#include "sys/text/text.hpp"

#include <tenon/linearop_create.h>

#include <fmt/ranges.h>

using namespace tenon;

namespace {

// A primitive with its name in TenonLinearOpCreatePrimitive().
struct NamedPrimitive {
  const char* name;
  Primitive primitive;
  bool splits; // whether it splits a dimension, which the caller then passes
};

constexpr NamedPrimitive kPrimitives[] = {
    {"broadcast", Primitive::Broadcast, false},
    {"sumreduce", Primitive::SumReduce, false},
    {"allreduce", Primitive::AllReduce, false},
    {"scatter", Primitive::Scatter, true},
    {"gather", Primitive::Gather, false},
    {"allgather", Primitive::AllGather, false},
    {"reducescatter", Primitive::ReduceScatter, true},
    {"alltoall", Primitive::AllToAll, true},
    {"slice", Primitive::Slice, true},
    {"zeropad", Primitive::ZeroPad, false},
};

// Throws TENON_ERR_TYPE for an unknown name, with the nearest one.
const NamedPrimitive& primitiveNamed(const std::string& name) {
  std::vector<std::string> names;
  for (const NamedPrimitive& entry : kPrimitives) {
    if (name == entry.name)
      return entry;
    names.emplace_back(entry.name);
  }
  throw Error(TENON_ERR_TYPE, fmt::format("unknown primitive '{}'; did you mean '{}'? Primitives: "
                                          "{}",
                                          name, nearest(name, names), fmt::join(names, ", ")));
}

// The range of a primitive. A dimension that is not used is an error, since the caller expects the
// primitive to act along it.
Layout rangeOf(const NamedPrimitive& entry, const Layout& domain, int axis, int dim) {
  if (!entry.splits && dim != -1)
    throw Error(TENON_ERR_ARG, fmt::format("dim is {}, but {} does not split a dimension; pass -1",
                                           dim, entry.name));
  return primitiveRange(entry.primitive, domain, axis, dim);
}

} // namespace

TenonErrorCode TenonLinearOpCreatePrimitive(TenonLayout layout, const char* name, int axis, int dim,
                                            TenonDataType type, TenonLinearOp* op) noexcept {
  return guard(__func__, [&] {
    createOn(layout, op, [&](const CommPtr& comm, const Layout& domain) {
      const NamedPrimitive entry = primitiveNamed(textOf(name, "name"));
      return makeConversion(comm, domain, rangeOf(entry, domain, axis, dim), type);
    });
  });
}
