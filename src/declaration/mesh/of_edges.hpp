// SPDX-License-Identifier: BSD-2-Clause
// What the types that work with a mesh's edges have in common: how they find their edges, the
// layouts of their rows, and the maps between rows of nodes and of edges.
//
// Rows are local to a rank, which has an edge where it owns the target. What an edge reads of a
// node elsewhere comes by the index map of the nodes, E, before the kernel; its adjoint is E* after
// it. Sums are in the order of the edges' keys, whatever the partition.
#pragma once

#include "declaration/core/declaration.hpp"
#include "geometry/mesh/edges.hpp"

namespace tenon {

// A type that finds its edges by the setting `edges`.
class OfEdges : public Declaration {
public:
  using Declaration::Declaration;
  bool takesLists() const override { return true; }
  SignatureTable rows(const std::vector<Shape>& inputs) const override;
  // Throws TENON_ERR_STATE if there are none.
  const Edges& edges() const;

protected:
  // The form but for what differs: used as the layouts say.
  Form formOf(const Layouts& inputs, Layouts uses, Layout output, const Choice& choice) const;
  // The layout in which an input is used whose rows lie as the pattern's. Throws TENON_ERR_LAYOUT,
  // naming `what` the rows are, if they do not.
  Layout useOf(const Layout& input, const Layout& pattern, const char* what) const;
};

// The setting by which a type finds its edges.
inline constexpr OptionSpec kEdgesSetting = {
    "edges", OptionSpec::String, "", "name of the edges among those that the program hands over"};

// The extents of a row.
Shape rowShape(const Shape& shape);
// x as it is used.
ValueId addUsed(MapList& list, ValueId x, const Layout& use);
// The rows of nodes that the edges read, with those of other ranks if some end there.
ValueId addNodes(MapList& list, ValueId x, const Edges::End& end, const char* name);
// Runs a kernel from v to rows of the end's nodes; what it gives to nodes of other ranks is added
// there.
void addSums(MapList& list, KernelEntry entry, ValueId v, const Edges::End& end);

} // namespace tenon
