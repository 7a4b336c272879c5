// SPDX-License-Identifier: BSD-2-Clause
// A mesh whose fields are written for ParaView: cells of one shape, and the nodes that are their
// corners, if the program numbers those. Both are written in the order of their ids, corners by the
// numbers of nodes in that order.
#pragma once

#include "dtensor/dtensor.hpp"
#include "io/xdmf.hpp"
#include "linop/exchange/make_index_map.hpp"

namespace tenon {

// A mesh as a rank lists it. Without nodes each cell has corners of its own.
struct ListedMesh {
  Ref<IndexMapObject> cells, nodes; // nodes may be none
  std::string shape;
  std::vector<Index> corners; // [owned cells, corners] positions in the list of nodes, or none
  std::vector<double> places; // [owned nodes, space], or [owned cells, corners, space]
};

class FieldMesh {
public:
  // Collective. Throws on all ranks alike TENON_ERR_ARG for lists that do not fit, TENON_ERR_LAYOUT
  // for maps without ids.
  FieldMesh(const CommPtr& comm, const ListedMesh& mesh, int space);

  const MeshShape& shape() const noexcept { return shape_; }
  const Ref<DTensor>& places() const noexcept { return places_; }   // [places, space]
  const Ref<DTensor>& corners() const noexcept { return corners_; } // [cells, corners]

  // The rows that a field has, and the map to the order of their ids. Throws TENON_ERR_LAYOUT if
  // they are neither cells nor nodes; `prefersCells` where both are divided alike.
  struct Rows {
    IndexMapPtr order;
    bool areNodes;
  };
  Rows rowsOf(const DTensor& field, bool prefersCells) const;
  std::string describe() const;

private:
  Ref<DTensor> sortedPlaces(const ListedMesh& mesh, int space) const;
  Ref<DTensor> sortedCorners(const ListedMesh& mesh) const;

  const MeshShape& shape_;
  IndexMapPtr cells_, nodes_; // to the order of the ids
  Ref<DTensor> places_, corners_;
};

} // namespace tenon
