// SPDX-License-Identifier: BSD-2-Clause
// What is in the file of a time: dimensions, coordinates and variables by CF and UGRID (example in
// the header). contentsOf() makes it as data, cf_file.cpp writes it. All ranks make the same
// contents; the tensors of a mesh, its coordinates and corners, are variables like fields.
#include "io/cf/cf_fields.hpp"

#include "comm/agreement/agreement.hpp"
#include "dtensor/host_view.hpp"
#include "io/cf/cf_file.hpp"
#include "io/checkpoint_files.hpp"
#include "io/transport.hpp"

#include <tenon/version.h>

#include <fmt/format.h>

#include <array>
#include <limits>

namespace tenon {

namespace {

constexpr const char* kMeshName = "mesh";

// The elements of a mesh that have the dimension of its shape, by UGRID.
struct CfElement {
  int dimension;
  const char* name;
};
CfElement elementOf(const MeshShape& shape) {
  if (shape.name == "segment")
    return {1, "edge"};
  return shape.name == "triangle" || shape.name == "quadrilateral" ? CfElement{2, "face"}
                                                                   : CfElement{3, "volume"};
}

// The time of the values, and the number of the step. A reference date needs a calendar.
void addTime(const CfFields& fields, Index step, double time, CfContents& contents) {
  contents.dimensions.emplace_back("time", 0);
  std::vector<CfAttribute> attributes{
      {"standard_name", "time"}, {"axis", "T"}, {"units", fields.timeUnits}};
  if (fields.timeUnits.find(" since ") != std::string::npos)
    attributes.push_back({"calendar", fields.calendar});
  contents.coordinates.push_back({.name = "time",
                                  .dimensions = {"time"},
                                  .attributes = std::move(attributes),
                                  .values = {time}});
  contents.coordinates.push_back({.name = "step",
                                  .dimensions = {"time"},
                                  .type = TENON_INT64,
                                  .attributes = {{"units", "1"}},
                                  .values = {static_cast<double>(step)}});
}

// The coordinate along dimension d: centres of cells with their bounds, or points. The names are
// the last ones of z, y, x: a grid of two dimensions has y and x.
void addAxis(const CfFields& fields, std::size_t d, CfContents& contents) {
  constexpr std::array<const char*, 3> kNames{"z", "y", "x"}, kAxes{"Z", "Y", "X"};
  const std::size_t at = kNames.size() - fields.space.size() + d;
  const std::string name = kNames[at];
  const double origin = fields.grid.origin[d], spacing = fields.grid.spacing[d];
  const bool areCells = fields.grid.isCellCentered;
  CfVariable axis{.name = name,
                  .dimensions = {name},
                  .attributes = {{"axis", kAxes[at]}, {"units", fields.lengthUnits}}};
  CfVariable bounds{.name = name + "_bounds", .dimensions = {name, "bounds"}, .attributes = {}};
  for (Index i = 0; i < fields.space[d]; ++i) {
    const auto place = static_cast<double>(i);
    axis.values.push_back(origin + (place + (areCells ? 0.5 : 0)) * spacing);
    bounds.values.push_back(origin + place * spacing);
    bounds.values.push_back(origin + (place + 1) * spacing);
  }
  contents.dimensions.emplace_back(name, fields.space[d]);
  if (areCells)
    axis.attributes.push_back({"bounds", bounds.name});
  contents.coordinates.push_back(std::move(axis));
  if (areCells)
    contents.coordinates.push_back(std::move(bounds));
}

void addGrid(const CfFields& fields, CfContents& contents) {
  for (std::size_t d = 0; d < fields.space.size(); ++d)
    addAxis(fields, d, contents);
  if (fields.grid.isCellCentered)
    contents.dimensions.emplace_back("bounds", 2);
}

// The topology, the coordinates of nodes, and the corners of elements. The topology is a variable
// of one number, which has no meaning: UGRID stores everything in its attributes, which name the
// other two.
void addMesh(const CfFields& fields, CfContents& contents, TensorPointers& tensors) {
  const FieldMesh& mesh = *fields.mesh;
  const CfElement element = elementOf(mesh.shape());
  const Shape &places = mesh.places()->layout().shape(),
              &corners = mesh.corners()->layout().shape();
  contents.dimensions.insert(
      contents.dimensions.end(),
      {{"node", places[0]}, {element.name, corners[0]}, {"corner", corners[1]}});
  CfTensor nodes{.variables = {}, .components = {places[1]}, .areComponentsFirst = false};
  std::string names;
  for (Index d = 0; d < places[1]; ++d) {
    const std::string axis(1, "xyz"[d]), name = fmt::format("{}_node_{}", kMeshName, axis);
    names += (d > 0 ? " " : "") + name;
    nodes.variables.push_back(
        {.name = name,
         .dimensions = {"node"},
         .attributes = {{"long_name", axis + " of the nodes"}, {"units", fields.lengthUnits}}});
  }
  const std::string connectivity = fmt::format("{}_{}_nodes", kMeshName, element.name);
  contents.coordinates.push_back(
      {.name = kMeshName,
       .dimensions = {},
       .type = TENON_INT64,
       .attributes = {{"cf_role", "mesh_topology"},
                      {.name = "topology_dimension", .text = "", .number = element.dimension},
                      {"node_coordinates", names},
                      {fmt::format("{}_dimension", element.name), element.name},
                      {fmt::format("{}_node_connectivity", element.name), connectivity},
                      {"long_name", fmt::format("mesh of cells of shape {}", mesh.shape().name)}},
       .values = {0}});
  contents.tensors.push_back(std::move(nodes));
  CfVariable cornersOfElements{
      .name = connectivity,
      .dimensions = {element.name, "corner"},
      .type = TENON_INT64,
      .attributes = {{"cf_role", fmt::format("{}_node_connectivity", element.name)},
                     {.name = "start_index", .text = "", .number = 0}}};
  // VTK's reader, and so ParaView, needs a fill value, and reads int32 only.
  cornersOfElements.fill = -1;
  cornersOfElements.storesInt32 = places[0] <= std::numeric_limits<std::int32_t>::max();
  contents.tensors.push_back({.variables = {std::move(cornersOfElements)}, .components = {}});
  tensors.insert(tensors.end(), {mesh.places().get(), mesh.corners().get()});
}

// The variables of a field, one for each component. On a grid the components are the first
// dimensions of the tensor, [component, z, y, x]; on a mesh its last, [row, component].
CfTensor tensorOf(const CfFields& fields, const CfField& field) {
  const Shape& shape = field.tensor->layout().shape();
  CfTensor tensor;
  tensor.areComponentsFirst = !fields.mesh;
  std::vector<std::string> dimensions{"time"};
  if (fields.mesh) {
    tensor.components.assign(shape.begin() + 1, shape.end());
    dimensions.emplace_back(field.areNodes ? "node" : elementOf(fields.mesh->shape()).name);
  } else {
    tensor.components.assign(shape.begin(),
                             shape.end() - static_cast<std::ptrdiff_t>(fields.space.size()));
    if (fields.space.size() == 3)
      dimensions.emplace_back("z");
    dimensions.insert(dimensions.end(), {"y", "x"});
  }
  const Index count = tensor.components.empty() ? 1 : elements(tensor.components);
  for (const std::string& name : componentNames(field.name, field.components, count)) {
    std::vector<CfAttribute> attributes{
        {"long_name", name == field.name ? name : fmt::format("{} of {}", name, field.name)}};
    if (fields.mesh) {
      attributes.push_back({"mesh", kMeshName});
      attributes.push_back({"location", dimensions[1]}); // "node", "face", ..., after "time"
    }
    tensor.variables.push_back({.name = name,
                                .dimensions = dimensions,
                                .type = field.tensor->dataType(),
                                .attributes = std::move(attributes)});
  }
  return tensor;
}

CfContents contentsOf(const CfFields& fields, Index step, double time, TensorPointers& tensors) {
  CfContents contents;
  contents.attributes = {{"Conventions", "CF-1.8 UGRID-1.0"},
                         {"source", fmt::format("Tenon {}.{}.{}", TENON_VERSION_MAJOR,
                                                TENON_VERSION_MINOR, TENON_VERSION_PATCH)}};
  addTime(fields, step, time, contents);
  if (fields.mesh)
    addMesh(fields, contents, tensors);
  else
    addGrid(fields, contents);
  for (const CfField& field : fields.fields) {
    contents.tensors.push_back(tensorOf(fields, field));
    tensors.push_back(field.tensor.get());
  }
  return contents;
}

// Upper estimate of the library's own data in a file.
Index bytesOf(const TensorPointers& tensors) {
  constexpr Index kStructureBytes = 65536, kStructureBytesOfTensor = 16384;
  Index bytes = kStructureBytes;
  for (const DTensor* x : tensors)
    bytes += elements(x->layout().shape()) * dataTypeSize(x->dataType()) + kStructureBytesOfTensor;
  return bytes;
}

} // namespace

void writeCfFile(const CommPtr& comm, const std::string& path, const CfFields& fields, Index step,
                 double time) {
  TensorPointers tensors;
  std::vector<Ref<DTensor>> copies; // on the host, of tensors on the device
  CfContents contents;
  std::optional<PartFile> part; // the temporary file; only on rank 0
  const std::string name = collectively(*comm, [&] {
    contents = contentsOf(fields, step, time, tensors);
    copies.resize(tensors.size());
    for (std::size_t i = 0; i < copies.size(); ++i)
      tensors[i] = &inSpace(*tensors[i], comm, Space::Host, copies[i]);
    if (comm->rank() != 0)
      return std::string();
    removeParts(path);
    checkRoom(path, bytesOf(tensors));
    part.emplace(path, PartFile::Owner::Named);
    return part->name();
  });
  const std::string partName = broadcastText(*comm, name, 0);
  const FileData data{.path = partName,
                      .stored = nullptr, // only for HDF5
                      .transport = FileTransport::Root,
                      .moved = nullptr,
                      .access = [&] { return makeCfFile(partName, contents); }};
  writeTensors(comm, data, tensors);
  commitPart(comm, part, data);
}

} // namespace tenon
