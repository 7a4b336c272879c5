// SPDX-License-Identifier: BSD-2-Clause
// Generates XDMF (version 2), the text of an .xmf file. It lists, for ParaView, the HDF5 datasets
// with the fields of each time, and their grid or mesh. All of it follows from the contents of the
// HDF5 files, so it can be generated again at any time.
//
// A grid is uniform: a 3DCoRectMesh with extents, origin and spacing in the order z, y, x.
// ParaView's readers put a 2DCoRectMesh into the plane of y and z, so a plane is written with one
// layer of points or cells in z instead. A field with several components is written as one
// attribute per component, each a hyperslab of the dataset. The text of one time, abridged, with a
// field u of 64 x 32 cells (y, x):
//
//   <Grid Name="step 120">
//     <Time Value="0.5"/>
//     <Topology TopologyType="3DCoRectMesh" Dimensions="2 65 33"/>        points in z, y, x
//     <Geometry GeometryType="ORIGIN_DXDYDZ"> origin, spacing </Geometry>
//     <Attribute Name="u" Center="Cell">
//       <DataItem Dimensions="1 64 32">heat-000120.h5:/tensors/u</DataItem>
//     </Attribute>
//   </Grid>
#pragma once

#include "io/stored_file.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon {

// A uniform grid.
struct FieldGrid {
  std::vector<double> origin, spacing; // (z,) y, x
  bool isCellCentered = true;

  int dimensions() const { return static_cast<int>(origin.size()); }
  bool isFlat() const { return dimensions() == 2; }
};

// A shape of cells in an unstructured mesh. A place is the coordinates of a node of the mesh, or of
// a corner of one cell if the mesh has no nodes: the tensor mesh_places [places, 2 or 3]. The
// tensor mesh_corners [cells, corners] has the row in mesh_places of each corner of each cell. Rows
// of a field are cells or nodes.
struct MeshShape {
  std::string_view name, topology; // "triangle" for users, "Triangle" in XDMF
  Index corners;
};
// Throws TENON_ERR_ARG for an unknown name.
const MeshShape& meshShape(const std::string& name);
constexpr const char* kMeshPlaces = "mesh_places";
constexpr const char* kMeshCorners = "mesh_corners";
// The next names are keys of the named values (StoredValues) of a stored file.
// Key of the value with the name of the shape.
constexpr const char* kMeshShape = "mesh_shape";
// Key of the value, in the file of a time, with the name of the file of its mesh in the same
// folder. Files without it contain the mesh.
constexpr const char* kMeshFile = "mesh_file";
// Key of the value that says where the rows of a field are: "cell" or "node".
std::string centerKey(const std::string& field);

// Stores the grid in the values of a file.
void putGrid(StoredValues& values, const FieldGrid& grid);
// Key of the value with the names of a field's components.
std::string componentsKey(const std::string& field);

// Returns the names of a field's components: "u" for a single one, the given names, or "u_0",
// "u_1", ...
std::vector<std::string> componentNames(const std::string& field, const std::string& given,
                                        Index count);

// A file, with its name relative to the .xmf file's folder.
struct NamedFile {
  std::string name;
  StoredFile file;
};
// Returns the name of the file with the mesh of a time's fields; none if the file contains its
// mesh, or has a grid.
std::optional<std::string> meshFileOf(const NamedFile& fields);
// Returns the text of one time: its grid or mesh, and its fields; `mesh` is the file that
// meshFileOf() names. Throws TENON_ERR_FORMAT if the file has no grid, or no fields on it.
std::string xdmfOfFile(const NamedFile& fields, const NamedFile* mesh = nullptr);
// Returns the complete text from those of all times.
std::string xdmfOfSeries(const std::string& title, const std::vector<std::string>& times);

} // namespace tenon
