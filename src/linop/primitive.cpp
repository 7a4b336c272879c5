// SPDX-License-Identifier: BSD-2-Clause
#include "linop/primitive.hpp"

#include "geometry/cuts.hpp"
#include "sys/error.hpp"

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
    return {"sum-reduce", Partial, Root};
  case Primitive::AllReduce:
    return {"all-reduce", Partial, Broadcast};
  case Primitive::Scatter:
    return {"scatter", Root, Shard};
  case Primitive::Gather:
    return {"gather", Shard, Root};
  case Primitive::AllGather:
    return {"all-gather", Shard, Broadcast};
  case Primitive::ReduceScatter:
    return {"reduce-scatter", Partial, Shard};
  case Primitive::AllToAll:
    return {"all-to-all", Shard, Shard};
  case Primitive::Slice:
    return {"slice", Broadcast, Shard};
  case Primitive::ZeroPad:
    return {"zero-pad", Shard, Partial};
  }
  throw Error(TENON_ERR_INTERNAL, "a primitive without a rule");
}

const char* letterOf(PropertyKind kind) {
  constexpr const char* kLetters[] = {"S", "B", "P", "R"};
  return kLetters[static_cast<int>(kind)];
}

void checkDomain(const Rule& rule, const Layout& domain, int axis, int dim) {
  if (axis < 0 || axis >= domain.mesh().axes())
    throw Error(TENON_ERR_ARG,
                fmt::format("a {} along axis {}, but the mesh {} has axes 0 to {}", rule.name, axis,
                            domain.mesh().describe(), domain.mesh().axes() - 1));
  const Property now = domain.property(axis);
  if (now.kind != rule.from)
    throw Error(TENON_ERR_LAYOUT,
                fmt::format("a {} takes {} on its axis, but axis {} of {} is {}", rule.name,
                            letterOf(rule.from), axis, domain.describe(), now.describe()));
  if (rule.to == PropertyKind::Shard && (dim < 0 || dim >= domain.rank() || now.dim == dim))
    throw Error(TENON_ERR_ARG, fmt::format("a {} from {} to S{}; pass a dimension from 0 to {}{}",
                                           rule.name, now.describe(), dim, domain.rank() - 1,
                                           now.isShard() ? " that the axis does not split" : ""));
  if (domain.hasMargins())
    throw Error(TENON_ERR_LAYOUT,
                fmt::format("a {} takes a layout without margins, but got {}; trim the margins "
                            "first, or use a conversion",
                            rule.name, domain.describe()));
}

// Joins the pieces that the minor axis made of each part.
void leaveDimension(LayoutSpec& spec, int axis, int dim, const char* name) {
  std::vector<int>& order = spec.splitAxes[dim];
  if (order.back() != axis)
    throw Error(TENON_ERR_LAYOUT,
                fmt::format("a {} along axis {} would join parts of dimension {} that are not "
                            "neighbours, since axis {} divides it further; use a conversion",
                            name, axis, dim, order.back()));
  order.pop_back();
  const std::vector<Index> fine = spec.cuts[dim];
  spec.cuts[dim].clear();
  for (std::size_t i = 0; i < fine.size(); i += spec.mesh->extent(axis))
    spec.cuts[dim].push_back(fine[i]);
}

// Divides each part into balanced pieces along a new minor axis.
void enterDimension(LayoutSpec& spec, int axis, int dim) {
  spec.splitAxes[dim].push_back(axis);
  const std::vector<Index> coarse = spec.cuts[dim];
  std::vector<Index>& fine = spec.cuts[dim] = {0};
  for (std::size_t part = 0; part + 1 < coarse.size(); ++part) {
    const auto pieces = balancedCuts(coarse[part + 1] - coarse[part], spec.mesh->extent(axis));
    for (std::size_t i = 1; i < pieces.size(); ++i)
      fine.push_back(coarse[part] + pieces[i]);
  }
}

} // namespace

Layout primitiveRange(Primitive primitive, const Layout& domain, int axis, int dim) {
  const Rule rule = ruleOf(primitive);
  checkDomain(rule, domain, axis, dim);
  LayoutSpec spec = domain.spec();
  if (domain.property(axis).isShard())
    leaveDimension(spec, axis, domain.property(axis).dim, rule.name);
  if (rule.to == PropertyKind::Shard)
    enterDimension(spec, axis, dim);
  spec.properties[axis] = {rule.to, rule.to == PropertyKind::Shard ? dim : -1};
  return Layout(std::move(spec));
}

Layout sendReceiveRange(const Layout& domain, int rank, int ranks) {
  if (domain.mesh().size() != 1)
    throw Error(TENON_ERR_LAYOUT,
                fmt::format("a send-receive takes a tensor on a mesh of one process, but got {}",
                            domain.describe()));
  if (rank < 0 || rank >= ranks)
    throw Error(
        TENON_ERR_ARG,
        fmt::format("a send-receive to rank {}; the communicator has 0 to {}", rank, ranks - 1));
  LayoutSpec spec = domain.spec();
  spec.mesh = Mesh::make(domain.mesh().extents(), {rank});
  return Layout(std::move(spec));
}

} // namespace tenon
