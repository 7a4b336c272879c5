// SPDX-License-Identifier: BSD-2-Clause
// Writes the fields of one time as a NetCDF file by the conventions CF (grids) and UGRID (meshes).
// Of a field velocity with the components u and v on a grid of 64 x 32 cells, abridged:
//
//   dimensions: time = UNLIMITED (1), y = 64, x = 32, bounds = 2
//   double time(time)                units = "days since 1850-01-01"
//   int64  step(time)
//   double x(x)                      bounds = "x_bounds", axis = "X"
//   double x_bounds(x, bounds)
//   double u(time, y, x), v(time, y, x)
//
// With a mesh of triangles:
//
//   int64  mesh                      cf_role = "mesh_topology", topology_dimension = 2, ...
//   double mesh_node_x(node), mesh_node_y(node)
//   int64  mesh_face_nodes(face, corner)
//   double flux(time, face)          mesh = "mesh", location = "face"
#pragma once

#include "io/field_mesh.hpp"
#include "io/xdmf.hpp"

#include <string>
#include <vector>

namespace tenon {

// A field of the file: a tensor with the names of its components.
struct CfField {
  Ref<DTensor> tensor; // on a mesh, row i is the cell or node with the i-th id
  std::string name;
  std::string components; // names with commas, "u,v", or "": see componentNames() (io/xdmf.hpp)
  bool areNodes = false;  // whether the values are at the nodes of the mesh, or in its cells
};

// Everything that the file of one time contains.
struct CfFields {
  const FieldGrid& grid;
  const FieldMesh* mesh; // null for a grid
  const Shape& space;    // extents of the grid
  const std::vector<CfField>& fields;
  // Units of the time, "days since 1850-01-01", with the calendar; and of the coordinates.
  std::string timeUnits, calendar, lengthUnits;
};

// Collective on comm. Rank 0 writes the file, the other ranks send it their elements. The file is
// written under a temporary name and renamed; after an error the old one remains.
void writeCfFile(const CommPtr& comm, const std::string& path, const CfFields& fields, Index step,
                 double time);

} // namespace tenon
