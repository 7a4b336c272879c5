// SPDX-License-Identifier: BSD-2-Clause
// What the layer types on edges of a mesh (gather, segmentsum, sparsematrix, edgeattention) have in
// common:
//
//   addNodes    the step that receives rows of other ranks' nodes, if edges of this rank read them
//   addSums     a kernel that writes rows of nodes, and the step that adds those of other ranks
//   edges()     the edges that the setting `edges` names
//   useOf()     checks that the rows of an input are distributed as the edges say
//   formOf()    the layouts of inputs and output
//
// The program's lists determine which rank has which nodes and edges. These layers therefore never
// redistribute an input: if its rows are on other ranks, it is an error, and the user adds a
// repartition.
#include "declaration/mesh/edge_declaration.hpp"

#include "declaration/core/types.hpp"
#include "geometry/layout/layout.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

// Whether each rank holds the same rows in both layouts, possibly on different process grids.
bool holdSameRows(const Layout& a, const Layout& b) {
  if (a.shape() != b.shape() || a.hasHalos() || a.holdsPartialSums())
    return false;
  for (int rank : b.grid().ranks())
    if (a.boxOfRank(rank) != b.boxOfRank(rank))
      return false;
  return true;
}

// Whether x needs no conversion. Grids must be equal too: index maps refer to their own grid, and
// equal layouts can differ in axes of one process.
bool isUsedAsIs(const Layout& x, const Layout& use) {
  return x == use && x.grid() == use.grid();
}

} // namespace

Shape rowShape(const Shape& shape) {
  return {shape.begin() + 1, shape.end()};
}

ValueId addUsed(MapList& list, ValueId x, const Layout& use) {
  const Value value = list.values()[x];
  return isUsedAsIs(value.layout, use) ? x : list.convert(value.name + "'", x, use);
}

ValueId addNodes(MapList& list, ValueId x, const Edges::End& end, const char* name) {
  if (end.isOwned)
    return list.staged(x);
  const ValueId v = list.value(name, end.nodes->rangeFor(list.values()[x].layout));
  list.applyMap(end.nodes, /*transposed=*/false, x, v);
  return v;
}

// If edges of this rank end at nodes of other ranks, the kernel writes rows of all listed nodes (p,
// with contributions to ghosts), and the transpose of the nodes' index map adds them at the owners.
void addSums(MapList& list, KernelEntry entry, ValueId v, const Edges::End& end) {
  const ValueId output = list.output();
  if (end.isOwned) {
    const ValueId y = list.stagedOutput();
    list.run(std::move(entry), {v}, y);
    return list.unstage(y);
  }
  const ValueId p = list.value("p", end.nodes->rangeFor(list.values()[output].layout).dual());
  list.run(std::move(entry), {v}, p);
  list.applyMap(end.nodes, /*transposed=*/true, p, output);
}

// The only way to distribute such a layer over a grid axis is by rows, as the lists are.
SignatureTable EdgeDeclaration::rows(const std::vector<Shape>& inputs) const {
  return {{"S0", Properties(inputs.size(), Property::shard(0)), {}, Property::shard(0)}};
}

const Edges& EdgeDeclaration::edges() const {
  const std::string name = text("edges");
  if (const EdgesPtr edges = lists().edges(name))
    return *edges; // owned by the lists
  throw Error(TENON_ERR_STATE,
              fmt::format("{} has no edges{}; call TenonLayerSetEdges() of it or of a network that "
                          "contains it",
                          title(), name.empty() ? "" : fmt::format(" \"{}\"", name)));
}

Form EdgeDeclaration::formOf(const Layouts& inputs, Layouts uses, Layout output,
                             const Choice& choice) const {
  std::vector<Shape> shapes;
  for (const Layout& input : inputs)
    shapes.push_back(input.shape());
  const Signature signature =
      choice.labels.empty()
          ? Signature::following(rows(shapes), output)
          : Signature::choose(rows(shapes), output, output.gridPtr(), choice.labels, title());
  return {.signature = signature, .inputs = inputs, .uses = std::move(uses), .output = output};
}

Layout EdgeDeclaration::useOf(const Layout& input, const Layout& pattern, const char* what) const {
  if (input.shape()[0] == pattern.shape()[0]) {
    const Layout use = rowsLayout(pattern, rowShape(input.shape()));
    if (isUsedAsIs(input, use))
      return input;
    if (holdSameRows(input, use))
      return use;
  }
  throw Error(TENON_ERR_LAYOUT,
              fmt::format("an input of {} is {}, but its {} are {}, with further dimensions that "
                          "are not divided; pass rows that lie as the lists of the edges say, or "
                          "add a repartition",
                          title(), input.describe(), what, pattern.describe()));
}

} // namespace tenon
