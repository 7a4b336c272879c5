// SPDX-License-Identifier: BSD-2-Clause
// The primitives by name, each on one axis of a grid. A primitive changes the property of that
// axis: for example "allgather" changes S (the axis splits a dimension) to B (all have copies). It
// is defined only for the minor axis of a dimension, the last of the axes that split it: when the
// axis no longer splits the dimension, adjacent pieces are joined. Example with axes 0 and 1 of 2
// positions that split 8 rows: cuts 0 2 4 6 8; after an allgather along axis 1 they are 0 4 8.
// Layouts are therefore drawn with the axis last among those that split its dimension.
// checkPrimitive() is declared in kinds.hpp.
#include "tools/check/kinds.hpp"
#include "tools/check/layout_make.hpp"
#include "tools/check/operators/operator.hpp"

#include <fmt/format.h>

namespace tenon::tools {

namespace {

struct Rule {
  const char* name;
  char from, to;
};

// The property of the axis before and after each primitive.
const std::vector<Rule> kRules = {
    {"broadcast", 'R', 'B'},     {"sumreduce", 'P', 'R'}, {"allreduce", 'P', 'B'},
    {"scatter", 'R', 'S'},       {"gather", 'S', 'R'},    {"allgather", 'S', 'B'},
    {"reducescatter", 'P', 'S'}, {"alltoall", 'S', 'S'},  {"slice", 'B', 'S'},
    {"zeropad", 'S', 'P'},
};

// Joins the pieces of a dimension that its minor axis no longer splits.
void join(LayoutSpec& spec, int axis, int dim) {
  spec.splitAxes[dim].pop_back();
  Indices joined;
  for (std::size_t i = 0; i < spec.cuts[dim].size(); i += spec.grid.extents[axis])
    joined.push_back(spec.cuts[dim][i]);
  spec.cuts[dim] = joined;
}

// The layout of y: `spec` with the property `to` on the axis.
LayoutSpec rangeOf(LayoutSpec spec, int axis, Property to) {
  if (spec.properties[axis].kind == 'S')
    join(spec, axis, spec.properties[axis].dim);
  spec.properties[axis] = to;
  if (to.kind == 'S') {
    spec.splitAxes[to.dim].push_back(axis);
    spec.cuts[to.dim] = divided(spec.cuts[to.dim], spec.grid.extents[axis]);
  }
  return spec;
}

// Draws a layout of x in which the axis has the property `kind`; if it is S, as the minor axis.
LayoutSpec drawDomain(Draw& draw, const Indices& shape, const GridSpec& grid, int axis, char kind) {
  LayoutSpec spec = drawLayout(draw, shape, grid);
  if (spec.properties[axis].kind == kind && kind != 'S')
    return spec;
  spec.properties[axis] = {kind, kind == 'S' ? draw.upTo(spec.ndim() - 1) : -1};
  for (int d = 0; d < spec.ndim(); ++d) {
    resplit(spec, d);
    std::erase(spec.splitAxes[d], axis);
    if (spec.properties[axis] == Property{'S', d})
      spec.splitAxes[d].push_back(axis);
    spec.cuts[d] = balancedCuts(spec, d);
  }
  return spec;
}

} // namespace

void checkPrimitive(Case& c) {
  const TenonDataType type = drawFloating(c.draw);
  const Rule rule = c.draw.of(kRules);
  const GridSpec grid = drawGrid(c.draw, c.ranks);
  const int axis = c.draw.upTo(grid.axes() - 1);
  const Indices shape = drawShape(c.draw, 2, 3, 7);
  const LayoutSpec from = drawDomain(c.draw, shape, grid, axis, rule.from);
  int dim = c.draw.upTo(from.ndim() - 1);
  // The two dimensions of an all-to-all must differ.
  if (from.properties[axis].dim == dim)
    dim = (dim + 1) % from.ndim();
  if (rule.to != 'S')
    dim = -1;
  Subject s{
      .from = from, .to = rangeOf(from, axis, {rule.to, dim}), .fromType = type, .toType = type};
  c.text += fmt::format(" {} {} along axis {} into dimension {} from {}", typeText(type), rule.name,
                        axis, dim, from.text());
  require(TenonLinearOpCreatePrimitive(makeLayout(c.comm, from), rule.name, axis, dim, type,
                                       s.op.out()));
  Layout range;
  require(TenonLinearOpGetRange(s.op, range.out()));
  TenonBool isEqual = TENON_FALSE;
  require(TenonLayoutIsEqual(range, makeLayout(c.comm, s.to), &isEqual));
  c.found("range", isEqual ? "" : ": expected " + s.to.text());
  // With a wrong range, outputs cannot be compared.
  if (isEqual)
    checkOperator(c, s);
}

} // namespace tenon::tools
