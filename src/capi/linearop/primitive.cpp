// SPDX-License-Identifier: BSD-2-Clause
// The named primitives: conversions whose range follows from the domain, an axis of the process
// grid and, for some, a dimension of the tensor. A primitive only fixes the layouts; how its data
// move is chosen by makeConversion(), as between any two layouts.
#include "capi/linearop/create.hpp"

#include "linop/algebra/primitive.hpp"
#include "linop/exchange/make_conversion.hpp"
#include "sys/errors/guard.hpp"
#include "sys/text/text.hpp"

#include <tenon/linearop_create.h>

#include <fmt/ranges.h>

using namespace tenon;

namespace {

struct Named {
  const char* name;
  Primitive primitive;
  bool splits; // a dimension, which the caller names
};

constexpr Named kPrimitives[] = {
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

const Named& named(const std::string& name) {
  std::vector<std::string> known;
  for (const Named& one : kPrimitives) {
    if (name == one.name)
      return one;
    known.emplace_back(one.name);
  }
  throw Error(TENON_ERR_TYPE, fmt::format("unknown primitive '{}'; did you mean '{}'? Primitives: "
                                          "{}",
                                          name, nearest(name, known), fmt::join(known, ", ")));
}

// A dimension is refused where it is not used: its caller believes that the primitive acts along
// it.
Layout rangeOf(const Named& one, const Layout& domain, int axis, int dim) {
  if (!one.splits && dim != -1)
    throw Error(TENON_ERR_ARG, fmt::format("dim is {}, but {} does not split a dimension; pass -1",
                                           dim, one.name));
  return primitiveRange(one.primitive, domain, axis, dim);
}

} // namespace

TenonErrorCode TenonLinearOpCreatePrimitive(TenonLayout layout, const char* name, int axis, int dim,
                                            TenonDataType type, TenonLinearOp* op) noexcept {
  return guard(__func__, [&] {
    createOn(layout, op, [&](const CommPtr& comm, const Layout& domain) {
      const Named one = named(textOf(name, "name"));
      return makeConversion(comm, domain, rangeOf(one, domain, axis, dim), type);
    });
  });
}

TenonErrorCode TenonLinearOpCreateSendReceive(TenonLayout layout, int rank, TenonDataType type,
                                              TenonLinearOp* op) noexcept {
  return guard(__func__, [&] {
    createOn(layout, op, [&](const CommPtr& comm, const Layout& domain) {
      return makeConversion(comm, domain, sendReceiveRange(domain, rank, comm->size()), type);
    });
  });
}
