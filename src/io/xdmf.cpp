// SPDX-License-Identifier: BSD-2-Clause
// Generates the XDMF text of a series of fields (example in the header). Everything, including
// names, comes from HDF5 files, which are not trusted: texts are escaped and values are checked.
// The order and thickness of axes are those that ParaView's readers expect, see the header.
//
//   xdmfOfFile()      the text of one time, which has two parts:
//     meshOf()          a uniform grid, and onGrid() for each field on it
//     unstructured()    a mesh, and onMesh() for each field on it
//   xdmfOfSeries()    the file, which contains the texts of all times
//
// In these functions `name` is the file's name as it appears in the text, relative to the .xmf
// file.
#include "io/xdmf.hpp"

#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

namespace tenon {

namespace {

// The group of the HDF5 file with all fields: a field u is the dataset "tensors/u".
constexpr const char* kFields = "tensors/";

// Escapes a text for a quoted XML attribute.
std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text)
    switch (c) {
    case '&':
      safe += "&amp;";
      break;
    case '<':
      safe += "&lt;";
      break;
    case '>':
      safe += "&gt;";
      break;
    case '"':
      safe += "&quot;";
      break;
    default:
      safe += c;
    }
  return safe;
}

// Returns a value of the file, such as "step". Throws TENON_ERR_FORMAT if it does not exist or has
// another type.
template <class T>
const T& valueOf(const std::string& name, const StoredFile& file, const std::string& key) {
  const auto found = file.values.find(key);
  if (found != file.values.end())
    if (const T* value = std::get_if<T>(&found->second))
      return *value;
  throw Error(
      TENON_ERR_FORMAT,
      fmt::format("file '{}' has no value '{}': it is not of a series of fields", name, key));
}

// Parses numbers separated by spaces, as putGrid() writes them.
std::vector<double> numbersOf(const std::string& text) {
  std::vector<double> numbers;
  for (const std::string& word : split(text, ' ')) {
    double number = 0;
    std::from_chars(word.data(), word.data() + word.size(), number);
    numbers.push_back(number);
  }
  return numbers;
}

// Returns the grid that putGrid() has stored in the file.
FieldGrid gridOf(const std::string& name, const StoredFile& file) {
  FieldGrid grid{numbersOf(valueOf<std::string>(name, file, "grid_origin")),
                 numbersOf(valueOf<std::string>(name, file, "grid_spacing")),
                 valueOf<std::string>(name, file, "grid_center") == "cell"};
  if (grid.origin.size() != grid.spacing.size() || grid.dimensions() < 2 || grid.dimensions() > 3)
    throw Error(TENON_ERR_FORMAT, fmt::format("file '{}' has a grid of {} and {} dimensions", name,
                                              grid.origin.size(), grid.spacing.size()));
  return grid;
}

// Returns the name of a field: "u" for the dataset "tensors/u".
std::string fieldName(const StoredDataset& field) {
  return field.path.substr(std::string_view(kFields).size());
}

// Returns the XML attributes for the type of a data item in the file.
std::string numberKind(TenonDataType type) {
  return fmt::format("NumberType=\"{}\" Precision=\"{}\"", isInteger(type) ? "Int" : "Float",
                     dataTypeSize(type));
}

// Returns the reference to a whole dataset of the file, of which ParaView reads `shape`.
std::string dataItem(const std::string& name, const StoredDataset& field, const Shape& shape) {
  return fmt::format("<DataItem Format=\"HDF\" {} Dimensions=\"{}\">{}:/{}</DataItem>\n",
                     numberKind(field.type), fmt::join(shape, " "), escaped(name),
                     escaped(field.path));
}

// Returns the spatial extents of a field, in the order z, y, x.
Shape spaceOf(const StoredDataset& field, const FieldGrid& grid) {
  Shape space(field.shape.end() - grid.dimensions(), field.shape.end());
  if (grid.isFlat())
    // ParaView's readers need three dimensions; a plane is one cell thick.
    space.insert(space.begin(), 1);
  return space;
}

// Returns start, stride and count of component `number` in the dataset; its values have the extents
// `values`. Components are numbered row-major over the dimensions [first, end).
std::string hyperslab(const std::string& name, const StoredDataset& field, Index number,
                      std::size_t first, std::size_t end, const Shape& values) {
  Shape start(field.shape.size(), 0), stride(field.shape.size(), 1), count = field.shape;
  for (std::size_t d = end; d-- > first;) {
    start[d] = number % field.shape[d];
    number /= field.shape[d];
    count[d] = 1;
  }
  return fmt::format(
      "<DataItem ItemType=\"HyperSlab\" {} Dimensions=\"{}\">\n"
      "            <DataItem Format=\"XML\" Dimensions=\"3 {}\">{}  {}  {}</DataItem>\n"
      "            {}"
      "          </DataItem>\n",
      numberKind(field.type), fmt::join(values, " "), field.shape.size(), fmt::join(start, " "),
      fmt::join(stride, " "), fmt::join(count, " "), dataItem(name, field, field.shape));
}

// Returns one XML attribute per component; item(i) returns the data item of component i.
template <class Item>
std::string attributesOf(const std::string& fileName, const StoredFile& file,
                         const StoredDataset& field, const char* center, Index count, Item item) {
  const std::string name = fieldName(field);
  const auto componentList = file.values.find(componentsKey(name));
  const bool hasNames = componentList != file.values.end() &&
                        std::holds_alternative<std::string>(componentList->second);
  const std::vector<std::string> names =
      componentNames(name, hasNames ? std::get<std::string>(componentList->second) : "", count);
  if (static_cast<Index>(names.size()) != count)
    throw Error(TENON_ERR_FORMAT, fmt::format("file '{}': field '{}' has {} and {} of components",
                                              fileName, name, counted(count, "component"),
                                              counted(static_cast<Index>(names.size()), "name")));
  std::string text;
  for (Index i = 0; i < count; ++i)
    text += fmt::format("        <Attribute Name=\"{}\" AttributeType=\"Scalar\" Center=\"{}\">\n"
                        "          {}"
                        "        </Attribute>\n",
                        escaped(names[static_cast<std::size_t>(i)]), center, item(i));
  return text;
}

// Returns the XML attributes of a field on a grid. Its dimensions before the spatial ones are
// components.
std::string onGrid(const std::string& name, const StoredFile& file, const StoredDataset& field,
                   const FieldGrid& grid) {
  const std::size_t leading = field.shape.size() - static_cast<std::size_t>(grid.dimensions());
  const auto end = field.shape.begin() + static_cast<std::ptrdiff_t>(leading);
  const Shape values = spaceOf(field, grid);
  return attributesOf(name, file, field, grid.isCellCentered ? "Cell" : "Node",
                      elements(Shape(field.shape.begin(), end)), [&](Index i) {
                        return leading == 0 ? dataItem(name, field, values)
                                            : hyperslab(name, field, i, 0, leading, values);
                      });
}

// Returns topology and geometry of a grid, in the order z, y, x. `points` are the extents of a
// field's values; if these are in cells, there is one point more per dimension. A plane with values
// in its cells is one cell thick.
std::string meshOf(Shape points, const FieldGrid& grid) {
  std::vector<double> origin = grid.origin, spacing = grid.spacing;
  if (grid.isCellCentered)
    for (Index& extent : points)
      ++extent;
  if (grid.isFlat()) {
    origin.insert(origin.begin(), 0);
    spacing.insert(spacing.begin(), spacing.back());
  }
  return fmt::format(
      "        <Topology TopologyType=\"3DCoRectMesh\" Dimensions=\"{}\"/>\n"
      "        <Geometry GeometryType=\"ORIGIN_DXDYDZ\">\n"
      "          <DataItem Format=\"XML\" NumberType=\"Float\" Precision=\"8\" Dimensions=\"3\">{}"
      "</DataItem>\n"
      "          <DataItem Format=\"XML\" NumberType=\"Float\" Precision=\"8\" Dimensions=\"3\">{}"
      "</DataItem>\n"
      "        </Geometry>\n",
      fmt::join(points, " "), fmt::join(origin, " "), fmt::join(spacing, " "));
}

// Name for users, name in XDMF, number of corners.
constexpr MeshShape kShapes[] = {{"segment", "Polyline", 2},
                                 {"triangle", "Triangle", 3},
                                 {"quadrilateral", "Quadrilateral", 4},
                                 {"tetrahedron", "Tetrahedron", 4},
                                 {"pyramid", "Pyramid", 5},
                                 {"wedge", "Wedge", 6},
                                 {"hexahedron", "Hexahedron", 8}};

// Returns a dataset of the mesh, kMeshPlaces or kMeshCorners, which must be a matrix.
const StoredDataset& datasetOf(const std::string& name, const StoredFile& file, const char* word) {
  for (const StoredDataset& dataset : file.tensors)
    if (dataset.path == fmt::format("{}{}", kFields, word) && dataset.shape.size() == 2)
      return dataset;
  throw Error(TENON_ERR_FORMAT, fmt::format("file '{}' has a mesh without '{}'", name, word));
}

// Returns topology and geometry of an unstructured mesh.
std::string unstructured(const std::string& name, const StoredFile& file) {
  const MeshShape shape = meshShape(valueOf<std::string>(name, file, kMeshShape));
  const StoredDataset &places = datasetOf(name, file, kMeshPlaces),
                      &corners = datasetOf(name, file, kMeshCorners);
  return fmt::format("        <Topology TopologyType=\"{}\" NodesPerElement=\"{}\" "
                     "NumberOfElements=\"{}\">\n"
                     "          {}"
                     "        </Topology>\n"
                     "        <Geometry GeometryType=\"{}\">\n"
                     "          {}"
                     "        </Geometry>\n",
                     shape.topology, shape.corners, corners.shape[0],
                     dataItem(name, corners, corners.shape), places.shape[1] == 2 ? "XY" : "XYZ",
                     dataItem(name, places, places.shape));
}

// Returns the XML attributes of a field on a mesh. Its first dimension counts rows (cells or
// nodes), the others are components.
std::string onMesh(const std::string& name, const StoredFile& file, const StoredDataset& field) {
  const bool isNode = valueOf<std::string>(name, file, centerKey(fieldName(field))) == "node";
  const Shape rows{field.shape.front()};
  return attributesOf(name, file, field, isNode ? "Node" : "Cell",
                      elements(Shape(field.shape.begin() + 1, field.shape.end())), [&](Index i) {
                        return field.shape.size() == 1
                                   ? dataItem(name, field, rows)
                                   : hyperslab(name, field, i, 1, field.shape.size(), rows);
                      });
}

} // namespace

const MeshShape& meshShape(const std::string& name) {
  std::vector<std::string> names;
  for (const MeshShape& shape : kShapes) {
    if (shape.name == name)
      return shape;
    names.emplace_back(shape.name);
  }
  throw Error(TENON_ERR_ARG,
              fmt::format("cells have no shape '{}'; pass one of {}", name, joined(names)));
}

std::string centerKey(const std::string& field) {
  return "center_" + field;
}

void putGrid(StoredValues& values, const FieldGrid& grid) {
  values["grid_origin"] = fmt::format("{}", fmt::join(grid.origin, " "));
  values["grid_spacing"] = fmt::format("{}", fmt::join(grid.spacing, " "));
  values["grid_center"] = std::string(grid.isCellCentered ? "cell" : "node");
}

std::string componentsKey(const std::string& field) {
  return "components_" + field;
}

std::vector<std::string> componentNames(const std::string& field, const std::string& given,
                                        Index count) {
  if (!given.empty())
    return split(given, ',');
  if (count == 1)
    return {field};
  std::vector<std::string> names;
  for (Index i = 0; i < count; ++i)
    names.push_back(fmt::format("{}_{}", field, i));
  return names;
}

std::optional<std::string> meshFileOf(const NamedFile& fields) {
  if (!fields.file.values.contains(kMeshFile))
    return std::nullopt;
  auto name = valueOf<std::string>(fields.name, fields.file, kMeshFile);
  if (name.empty() || name.find('/') != std::string::npos)
    throw Error(TENON_ERR_FORMAT,
                fmt::format("file '{}' has its mesh in '{}', which is no file beside it",
                            fields.name, name));
  return name;
}

std::string xdmfOfFile(const NamedFile& fields, const NamedFile* mesh) {
  const auto& [name, file] = fields;
  const NamedFile& meshFile = mesh ? *mesh : fields;
  std::string geometry, attributes;
  if (meshFile.file.values.contains(kMeshShape)) {
    geometry = unstructured(meshFile.name, meshFile.file);
    for (const StoredDataset& field : file.tensors)
      if (field.path.starts_with(kFields) && !field.shape.empty() &&
          (mesh || (fieldName(field) != kMeshPlaces && fieldName(field) != kMeshCorners)))
        attributes += onMesh(name, file, field);
  } else {
    const FieldGrid grid = gridOf(name, file);
    for (const StoredDataset& field : file.tensors) {
      if (!field.path.starts_with(kFields) ||
          field.shape.size() < static_cast<std::size_t>(grid.dimensions()))
        continue;
      geometry = meshOf(spaceOf(field, grid), grid);
      attributes += onGrid(name, file, field, grid);
    }
  }
  if (attributes.empty())
    throw Error(TENON_ERR_FORMAT, fmt::format("file '{}' has no fields", name));
  return fmt::format("      <Grid Name=\"step {}\" GridType=\"Uniform\">\n"
                     "        <Time Value=\"{}\"/>\n"
                     "{}{}"
                     "      </Grid>\n",
                     valueOf<Index>(name, file, "step"), valueOf<double>(name, file, "time"),
                     geometry, attributes);
}

std::string xdmfOfSeries(const std::string& title, const std::vector<std::string>& times) {
  return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                     "<Xdmf Version=\"2.0\">\n"
                     "  <Domain>\n"
                     "    <Grid Name=\"{}\" GridType=\"Collection\" CollectionType=\"Temporal\">\n"
                     "{}"
                     "    </Grid>\n"
                     "  </Domain>\n"
                     "</Xdmf>\n",
                     escaped(title), fmt::join(times, ""));
}

} // namespace tenon
