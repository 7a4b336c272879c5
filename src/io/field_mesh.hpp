// SPDX-License-Identifier: BSD-2-Clause
// A mesh whose fields are written for ParaView: cells of one shape and, if the program numbers
// them, the nodes that are the cells' corners. Both are written in the order of their ids, the
// global numbers that the program has given them. Example, two triangles with four nodes:
//   3 ---- 2     places   (0,0) (1,0) (1,1) (0,1)       coordinates of the nodes
//   | 1  / |     corners  (0,1,2) (0,2,3)               rows of places, for cells 0 and 1
//   |  / 0 |
//   0 ---- 1
#pragma once

#include "dtensor/dtensor.hpp"
#include "io/xdmf.hpp"
#include "linop/exchange/make_index_map.hpp"

namespace tenon {

// The user's description of a mesh on one rank: its cells and, optionally, its nodes (the points
// that neighbouring cells share). Without nodes, each cell has its own corner points.
struct ListedMesh {
  Ref<IndexMapObject> cells, nodes; // nodes can be null
  std::string shape;
  // For each corner of each cell, the position of its node in the list of nodes: [owned cells,
  // corners]. Empty without nodes.
  std::vector<Index> corners;
  // Coordinates: [owned nodes, space], or [owned cells, corners, space] without nodes.
  std::vector<double> places;
};

// The mesh in the order of the file, by ids. FieldSeries writes places() and corners() as datasets,
// and sorts each field with the map that rowsOf() returns.
class FieldMesh {
public:
  // Collective on comm. Throws the same error on all ranks: TENON_ERR_ARG if a list has a wrong
  // length or index, TENON_ERR_LAYOUT for an index map without ids.
  FieldMesh(const CommPtr& comm, const ListedMesh& mesh, int space);

  const MeshShape& shape() const noexcept { return shape_; }
  const Ref<DTensor>& places() const noexcept { return places_; }   // [places, space]
  const Ref<DTensor>& corners() const noexcept { return corners_; } // [cells, corners]

  // Returns whether the rows of a field are cells or nodes, and the map that sorts them by id.
  // Throws TENON_ERR_LAYOUT if they are neither. If cells and nodes have equal layouts,
  // `prefersCells` decides.
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
  IndexMapPtr cells_, nodes_; // sort rows by id
  Ref<DTensor> places_, corners_;
};

} // namespace tenon
