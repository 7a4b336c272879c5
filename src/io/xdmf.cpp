// SPDX-License-Identifier: BSD-2-Clause
// Writes the XDMF text of a series of fields. Everything is taken from the HDF5 files, names and
// all, so every text is escaped and every value checked; order and thickness of the axes are those
// that ParaView's readers expect, which the header explains.
#include "io/xdmf.hpp"

#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

namespace tenon {

namespace {

constexpr const char* kFields = "tensors/";

// A text as the value of an attribute in quotes.
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

std::vector<double> numbersOf(const std::string& text) {
  std::vector<double> numbers;
  for (const std::string& word : split(text, ' ')) {
    double number = 0;
    std::from_chars(word.data(), word.data() + word.size(), number);
    numbers.push_back(number);
  }
  return numbers;
}

FieldGrid gridOf(const std::string& name, const StoredFile& file) {
  FieldGrid grid{numbersOf(valueOf<std::string>(name, file, "grid_origin")),
                 numbersOf(valueOf<std::string>(name, file, "grid_spacing")),
                 valueOf<std::string>(name, file, "grid_center") == "cell"};
  if (grid.origin.size() != grid.spacing.size() || grid.dimensions() < 2 || grid.dimensions() > 3)
    throw Error(TENON_ERR_FORMAT, fmt::format("file '{}' has a grid of {} and {} dimensions", name,
                                              grid.origin.size(), grid.spacing.size()));
  return grid;
}

// The attributes of one data item that lies in the file.
std::string numberKind(TenonDataType type) {
  return fmt::format("NumberType=\"{}\" Precision=\"{}\"", type == TENON_INT64 ? "Int" : "Float",
                     dataTypeSize(type));
}

std::string dataItem(const std::string& name, const StoredDataset& field, const Shape& shape) {
  return fmt::format("<DataItem Format=\"HDF\" {} Dimensions=\"{}\">{}:/{}</DataItem>\n",
                     numberKind(field.type), fmt::join(shape, " "), escaped(name),
                     escaped(field.path));
}

// The last dimensions of a field in space, z, y, x.
Shape spaceOf(const StoredDataset& field, const FieldGrid& grid) {
  Shape space(field.shape.end() - grid.dimensions(), field.shape.end());
  if (grid.isFlat())
    // ParaView's readers want three dimensions, and a plane is one cell thick.
    space.insert(space.begin(), 1);
  return space;
}

// Start, stride and count of component `number` in the dataset.
std::string hyperslab(const std::string& name, const StoredDataset& field, Index number,
                      const FieldGrid& grid) {
  Shape start(field.shape.size(), 0), stride(field.shape.size(), 1), count = field.shape;
  for (std::size_t d = field.shape.size() - static_cast<std::size_t>(grid.dimensions()); d-- > 0;) {
    start[d] = number % field.shape[d];
    // The components are counted row by row over the dimensions before space.
    number /= field.shape[d];
    count[d] = 1;
  }
  return fmt::format(
      "<DataItem ItemType=\"HyperSlab\" {} Dimensions=\"{}\">\n"
      "            <DataItem Format=\"XML\" Dimensions=\"3 {}\">{}  {}  {}</DataItem>\n"
      "            {}"
      "          </DataItem>\n",
      numberKind(field.type), fmt::join(spaceOf(field, grid), " "), field.shape.size(),
      fmt::join(start, " "), fmt::join(stride, " "), fmt::join(count, " "),
      dataItem(name, field, field.shape));
}

std::string attributesOf(const std::string& name, const StoredFile& file,
                         const StoredDataset& field, const FieldGrid& grid) {
  const std::string word = field.path.substr(std::string_view(kFields).size());
  const Shape leading(field.shape.begin(), field.shape.end() - grid.dimensions());
  const Index count = elements(leading);
  const auto given = file.values.find(componentsKey(word));
  const bool hasNames =
      given != file.values.end() && std::holds_alternative<std::string>(given->second);
  const std::vector<std::string> names =
      componentNames(word, hasNames ? std::get<std::string>(given->second) : "", count);
  std::string text;
  for (Index i = 0; i < count; ++i)
    text += fmt::format("        <Attribute Name=\"{}\" AttributeType=\"Scalar\" Center=\"{}\">\n"
                        "          {}"
                        "        </Attribute>\n",
                        escaped(names[static_cast<std::size_t>(i)]),
                        grid.isCellCentered ? "Cell" : "Node",
                        leading.empty() ? dataItem(name, field, spaceOf(field, grid))
                                        : hyperslab(name, field, i, grid));
  return text;
}

// Topology and geometry, z, y, x. A plane with values in its cells is one cell thick.
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

} // namespace

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

std::string xdmfOfFile(const std::string& name, const StoredFile& file) {
  const FieldGrid grid = gridOf(name, file);
  std::string mesh, fields;
  for (const StoredDataset& field : file.tensors) {
    if (!field.path.starts_with(kFields) ||
        field.shape.size() < static_cast<std::size_t>(grid.dimensions()))
      continue;
    mesh = meshOf(spaceOf(field, grid), grid);
    fields += attributesOf(name, file, field, grid);
  }
  if (fields.empty())
    throw Error(TENON_ERR_FORMAT, fmt::format("file '{}' has no fields", name));
  return fmt::format("      <Grid Name=\"step {}\" GridType=\"Uniform\">\n"
                     "        <Time Value=\"{}\"/>\n"
                     "{}{}"
                     "      </Grid>\n",
                     valueOf<Index>(name, file, "step"), valueOf<double>(name, file, "time"), mesh,
                     fields);
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
