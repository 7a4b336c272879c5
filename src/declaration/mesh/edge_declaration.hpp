// SPDX-License-Identifier: BSD-2-Clause
// Base of the layer types on edges of a mesh: how they find their edges, the layouts of their rows,
// and the maps between rows of nodes and rows of edges. A tensor on nodes or edges has the shape
// [rows, channels, ...], with a row for each node or edge.
//
// An edge is stored on the rank that owns its target. Rows of nodes on other ranks are received by
// the index map E of the nodes before the kernel; the adjoint applies E* after it. Sums are
// computed in the order of the edges' keys, whatever the partition.
#pragma once

#include "declaration/core/declaration.hpp"
#include "geometry/mesh/edges.hpp"

namespace tenon {

// A type whose edges are named by the setting "edges".
class EdgeDeclaration : public Declaration {
public:
  using Declaration::Declaration;
  bool takesLists() const override { return true; }
  SignatureTable rows(const std::vector<Shape>& inputs) const override;
  // Throws TENON_ERR_STATE if no edges were set.
  const Edges& edges() const;

protected:
  // A form with these layouts for inputs and output.
  Form formOf(const Layouts& inputs, Layouts uses, Layout output, const Choice& choice) const;
  // The use layout of an input whose rows are distributed like `pattern`. Throws TENON_ERR_LAYOUT,
  // naming the rows as `what`, if they are distributed otherwise.
  Layout useOf(const Layout& input, const Layout& pattern, const char* what) const;
};

// The setting that names the edges of a layer.
inline constexpr OptionSpec kEdgesSetting = {
    "edges", OptionSpec::String, "", "name of the edges among those that the program hands over"};

// The shape of one row.
Shape rowShape(const Shape& shape);
// x in its use layout.
ValueId addUsed(MapList& list, ValueId x, const Layout& use);
// The rows of nodes that the edges read, including rows received from other ranks if necessary.
ValueId addNodes(MapList& list, ValueId x, const Edges::End& end, const char* name);
// Runs a kernel from v to rows of the end's nodes; contributions to nodes of other ranks are sent
// and added there.
void addSums(MapList& list, KernelEntry entry, ValueId v, const Edges::End& end);

} // namespace tenon
