// SPDX-License-Identifier: BSD-2-Clause
// Makes the edges of a mesh from the lists of all ranks, and the object behind a TenonEdges.
#pragma once

#include "comm/communicator.hpp"
#include "geometry/mesh/edges.hpp"
#include "sys/errors/object.hpp"

namespace tenon {

// The edges of this rank: their ends are positions in its lists of nodes.
struct ListedEdges {
  std::vector<Index> target, source;
  std::vector<Index> key = {};      // One per edge, or empty.
  std::vector<double> weights = {}; // One per edge, or empty for weights of 1.
};

// Makes edges that are listed on the owner of their target. Collective. The maps are maps from ids.
// Throws on all ranks TENON_ERR_ARG if a position is not in the list or a target is a ghost, with
// the edge and the rank in the text, and TENON_ERR_LAYOUT for other maps.
EdgesPtr makeEdges(const CommPtr& comm, const IndexMapPtr& targets, const IndexMapPtr& sources,
                   ListedEdges listed);
// The same for edges that any ranks list, identified by their keys, such that several ranks can
// list the same edge. Each listing rank has a share of the edge, a factor of its weight: the shares
// of an edge sum to 1, and are equal if `shares` is empty. Throws TENON_ERR_ARG if the sum is not
// 1.
EdgesPtr makeSharedEdges(const CommPtr& comm, const IndexMapPtr& targets,
                         const IndexMapPtr& sources, ListedEdges listed,
                         std::vector<double> shares);

// The object of the handle TenonEdges.
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
