// SPDX-License-Identifier: BSD-2-Clause
// The table of the named primitives, and the layouts to which they lead. A primitive is no operator
// of its own: what distinguishes it is its range, and the conversion from the domain to that range
// does the rest.
#include "linop/algebra/primitive.hpp"

#include "geometry/schedule/axis_change.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

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

// In the order of the enumeration.
const char* symbolOf(PropertyKind kind) {
  constexpr const char* kSymbols[] = {"S", "B", "P", "R"};
  return kSymbols[static_cast<int>(kind)];
}

void checkDomain(const Rule& rule, const Layout& domain, int axis, int dim) {
  if (axis < 0 || axis >= domain.grid().axes())
    throw Error(TENON_ERR_ARG,
                fmt::format("the grid axis of the {} is {}, but process grid {} has axes 0 to {}",
                            rule.name, axis, domain.grid().describe(), domain.grid().axes() - 1));
  const Property now = domain.property(axis);
  if (now.kind != rule.from)
    throw Error(TENON_ERR_LAYOUT,
                fmt::format("the {} needs property {} on its grid axis, but axis {} of {} has {}",
                            rule.name, symbolOf(rule.from), axis, domain.describe(),
                            now.describe()));
  if (rule.to == PropertyKind::Shard && (dim < 0 || dim >= domain.rank() || now.dim == dim))
    throw Error(TENON_ERR_ARG,
                fmt::format("the {} cannot go from {} to S{}; pass a dimension from 0 to {}{}",
                            rule.name, now.describe(), dim, domain.rank() - 1,
                            now.isShard() ? " that the grid axis does not split" : ""));
  // A halo would make more of the conversion than the primitive: boxes would be filled or trimmed
  // on the way.
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
  const Property now = domain.property(axis);
  const Property then{rule.to, rule.to == PropertyKind::Shard ? dim : -1};
  // An axis can leave a dimension only as its minor one: else the pieces that it joins are not
  // adjacent, and a rank would hold several intervals.
  std::optional<Layout> range = withProperty(domain, axis, then);
  if (!range)
    throw Error(
        TENON_ERR_LAYOUT,
        fmt::format(
            "the {} along grid axis {} would join blocks of dimension {} that are not adjacent, "
            "since axis {} splits it further; use TenonLinearOpCreateConversion()",
            rule.name, axis, now.dim, domain.splitAxes(now.dim).back()));
  return *range;
}

Layout sendReceiveRange(const Layout& domain, int rank, int ranks) {
  // With more processes in the grid it would not be said which of them sends to which.
  if (domain.grid().size() != 1)
    throw Error(
        TENON_ERR_LAYOUT,
        fmt::format("a send-receive needs a layout on a process grid of one process, but got {}",
                    domain.describe()));
  if (rank < 0 || rank >= ranks)
    throw Error(TENON_ERR_ARG,
                fmt::format("the destination rank of the send-receive is {}; it must be in 0 to {}",
                            rank, ranks - 1));
  LayoutSpec spec = domain.spec();
  spec.grid = Grid::make(domain.grid().extents(), {rank});
  return Layout(std::move(spec));
}

} // namespace tenon
