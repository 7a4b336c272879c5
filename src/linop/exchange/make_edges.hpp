// SPDX-License-Identifier: BSD-2-Clause
// The edges of a mesh made of what each rank lists.
#pragma once

#include "comm/communicator.hpp"
#include "geometry/mesh/edges.hpp"
#include "sys/errors/object.hpp"

namespace tenon {

// This rank's edges: positions in its lists of nodes.
struct ListedEdges {
  std::vector<Index> target, source;
  std::vector<Index> key = {};      // of each, or none
  std::vector<double> weights = {}; // of each, or none: ones
};

// Collective. The maps are from ids; the targets are nodes that the rank owns. Throws on all ranks
// alike TENON_ERR_ARG, naming the edge and the rank, if a position is not one of the list or a
// target is a ghost, and TENON_ERR_LAYOUT for other maps.
EdgesPtr makeEdges(const CommPtr& comm, const IndexMapPtr& targets, const IndexMapPtr& sources,
                   ListedEdges listed);
// The same for edges that lie anywhere and are known by their keys, so that several ranks can have
// one. Each rank's sums have a share of it: those of an edge add up to 1, and are equal where none
// are given. Throws TENON_ERR_ARG if they do not.
EdgesPtr makeSharedEdges(const CommPtr& comm, const IndexMapPtr& targets,
                         const IndexMapPtr& sources, ListedEdges listed,
                         std::vector<double> shares);

// What the handle TenonEdges points to.
class EdgesObject : public Object {
public:
  static constexpr const char* kClass = "Edges";
  EdgesObject(CommPtr comm, EdgesPtr edges)
      : Object(kClass), comm_(std::move(comm)), edges_(std::move(edges)) {}

  const CommPtr& comm() const noexcept { return comm_; }
  const EdgesPtr& edges() const noexcept { return edges_; }
  std::string describe() const override;

private:
  CommPtr comm_;
  EdgesPtr edges_;
};

} // namespace tenon
