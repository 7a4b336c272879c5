// SPDX-License-Identifier: BSD-2-Clause
// The named primitives, and the layout that each produces. A primitive changes the property of one
// grid axis: S (splits a dimension), B (copies), P (partial sums) or R (only the first rank has
// elements). For example, "scatter" along axis 0 of R,B into dimension 1 gives S1,B. A primitive is
// not an operator type: it is the conversion from its domain to the range that is computed here.
#include "linop/algebra/primitive.hpp"

#include "geometry/schedule/axis_change.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

// The property of the axis before and after a primitive.
struct Rule {
  const char* name;
  PropertyKind from, to;
};

Rule ruleOf(Primitive primitive) {
  using enum PropertyKind;
  switch (primitive) {
  case Primitive::Broadcast:
    return {"broadcast", Root, Broadcast};
  case Primitive::SumReduce:
    return {"sumreduce", Partial, Root};
  case Primitive::AllReduce:
    return {"allreduce", Partial, Broadcast};
  case Primitive::Scatter:
    return {"scatter", Root, Shard};
  case Primitive::Gather:
    return {"gather", Shard, Root};
  case Primitive::AllGather:
    return {"allgather", Shard, Broadcast};
  case Primitive::ReduceScatter:
    return {"reducescatter", Partial, Shard};
  case Primitive::AllToAll:
    return {"alltoall", Shard, Shard};
  case Primitive::Slice:
    return {"slice", Broadcast, Shard};
  case Primitive::ZeroPad:
    return {"zeropad", Shard, Partial};
  }
  throw Error(TENON_ERR_INTERNAL, "a primitive without a rule");
}

// Symbols in the order of the enumeration.
const char* symbolOf(PropertyKind kind) {
  constexpr const char* kSymbols[] = {"S", "B", "P", "R"};
  return kSymbols[static_cast<int>(kind)];
}

void checkDomain(const Rule& rule, const Layout& domain, int axis, int dim) {
  if (axis < 0 || axis >= domain.grid().axes())
    throw Error(TENON_ERR_ARG,
                fmt::format("the grid axis of the {} is {}, but process grid {} has axes 0 to {}",
                            rule.name, axis, domain.grid().describe(), domain.grid().axes() - 1));
  const Property oldProperty = domain.property(axis);
  if (oldProperty.kind != rule.from)
    throw Error(TENON_ERR_LAYOUT,
                fmt::format("the {} needs property {} on its grid axis, but axis {} of {} has {}",
                            rule.name, symbolOf(rule.from), axis, domain.describe(),
                            oldProperty.describe()));
  if (rule.to == PropertyKind::Shard && (dim < 0 || dim >= domain.ndim() || oldProperty.dim == dim))
    throw Error(TENON_ERR_ARG,
                fmt::format("the {} cannot go from {} to S{}; pass a dimension from 0 to {}{}",
                            rule.name, oldProperty.describe(), dim, domain.ndim() - 1,
                            oldProperty.isShard() ? " that the grid axis does not split" : ""));
  // With a halo the conversion would also fill or trim boxes, which is more than the primitive.
  if (domain.hasHalos())
    throw Error(TENON_ERR_LAYOUT,
                fmt::format("the {} needs a layout without halos, but got {}; remove the halos "
                            "first or use TenonLinearOpCreateConversion()",
                            rule.name, domain.describe()));
}

} // namespace

Layout primitiveRange(Primitive primitive, const Layout& domain, int axis, int dim) {
  const Rule rule = ruleOf(primitive);
  checkDomain(rule, domain, axis, dim);
  const Property oldProperty = domain.property(axis);
  const Property newProperty{rule.to, rule.to == PropertyKind::Shard ? dim : -1};
  // An axis can leave a dimension only as its minor axis: otherwise the pieces that are joined are
  // not adjacent, and a rank would hold several intervals.
  std::optional<Layout> range = withProperty(domain, axis, newProperty);
  if (!range)
    throw Error(
        TENON_ERR_LAYOUT,
        fmt::format(
            "the {} along grid axis {} would join blocks of dimension {} that are not adjacent, "
            "since axis {} splits it further; use TenonLinearOpCreateConversion()",
            rule.name, axis, oldProperty.dim, domain.splitAxes(oldProperty.dim).back()));
  return *range;
}

} // namespace tenon
