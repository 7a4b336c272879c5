// SPDX-License-Identifier: BSD-2-Clause
// XDMF (version 2): the text beside HDF5 files that tells ParaView where the fields of each time
// are, and on what grid. It is made of what the files say themselves, so that it can be made anew
// at any time.
//
// A grid is uniform: a 3DCoRectMesh, extents, origin and spacing in the order z, y, x. Readers put
// a 2DCoRectMesh into the plane of y and z, so a plane has one layer of points or cells in z
// instead. A field with several components is one attribute for each, by a hyperslab of its
// dataset.
#pragma once

#include "io/stored_file.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon {

struct FieldGrid {
  std::vector<double> origin, spacing; // (z,) y, x
  bool isCellCentered = true;

  int dimensions() const { return static_cast<int>(origin.size()); }
  bool isFlat() const { return dimensions() == 2; }
};

// Cells of one shape that lie anywhere. The places of their corners are the tensor mesh_places,
// [places, 2 or 3], the numbers of each cell's corners among these mesh_corners, [cells, corners].
// Rows of fields are cells or places.
struct MeshShape {
  std::string_view name, topology; // "triangle" of users, "Triangle" of XDMF
  Index corners;
};
// Throws TENON_ERR_ARG for a name that is none.
const MeshShape& meshShape(const std::string& name);
constexpr const char* kMeshPlaces = "mesh_places";
constexpr const char* kMeshCorners = "mesh_corners";
// Of the value that holds the shape's name.
constexpr const char* kMeshShape = "mesh_shape";
// Of the value of a time's file that names the file of its mesh, in the same folder. Files without
// it have the mesh themselves.
constexpr const char* kMeshFile = "mesh_file";
// Where the rows of a field are: "cell" or "node".
std::string centerKey(const std::string& field);

// How a file keeps its grid and the names of components: among its values.
void putGrid(StoredValues& values, const FieldGrid& grid);
std::string componentsKey(const std::string& field);

// The names of a field's components in order: "u" alone, the given ones, or "u_0", "u_1", ...
std::vector<std::string> componentNames(const std::string& field, const std::string& given,
                                        Index count);

// A file with the name that the text has for it, without its folder.
struct NamedFile {
  std::string name;
  StoredFile file;
};
// The name of the file with the mesh of a time's fields; none where it is this one, or there is a
// grid.
std::optional<std::string> meshFileOf(const NamedFile& fields);
// The grid or mesh of one time with its fields; `mesh` is the file that meshFileOf() names. Throws
// TENON_ERR_FORMAT if the file has no grid, or no field on it.
std::string xdmfOfFile(const NamedFile& fields, const NamedFile* mesh = nullptr);
// All times together.
std::string xdmfOfSeries(const std::string& title, const std::vector<std::string>& times);

} // namespace tenon
