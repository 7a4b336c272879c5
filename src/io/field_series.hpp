// SPDX-License-Identifier: BSD-2-Clause
// Fields on a grid or a mesh over time, written for ParaView. For path "heat" and step 120:
//   heat-000120.h5        a checkpoint file of all fields at this time; its values contain the
//                         grid, or the name of the file of the mesh
//   heat-000000-mesh.h5   the mesh, written once per run with the run's first step in its name
//   heat.xmf              the list of all times that ParaView opens, generated from the .h5 files
// With the setting field_format netcdf instead, one file heat-000120.nc with everything.
// Rows of a mesh (its cells or nodes) are written in the order of their ids, so the files do not
// depend on how the mesh is partitioned.
#pragma once

#include "io/cf/cf_fields.hpp"
#include "io/checkpoint.hpp"
#include "io/field_mesh.hpp"
#include "io/xdmf.hpp"
#include "linop/exchange/index_map_op.hpp"

#include <memory>

namespace tenon {

// Calls: setGrid() or setMesh(), addTensor() for each field, then write() for each time.
class FieldSeries final : public SettableObject {
public:
  static constexpr const char* kClass = "FieldSeries";
  // `path` has no extension; `space` is the number of dimensions of the grid, 2 or 3.
  FieldSeries(CommPtr comm, const std::string& path, int space);

  const CommPtr& comm() const noexcept { return comm_; }
  // Settings can change between two times.
  const Settings& settings() const noexcept override { return settings_; }
  // Origin and spacing, in the order (z,) y, x.
  void setGrid(const std::vector<double>& origin, const std::vector<double>& spacing);
  // Collective on comm. The rows of later fields are cells or nodes of the mesh.
  void setMesh(const ListedMesh& mesh);
  // `components` is a comma-separated list of names; "" means the field's name with numbers.
  void addTensor(Ref<DTensor> tensor, const std::string& name, const std::string& components);
  // Collective on comm. Writes all fields at their current values.
  void write(Index step, double time);
  std::string describe() const override;

private:
  void applySettings(Settings after, const Settings::Names& names) override;
  // Return "heat-000120.h5" or .nc, and the same with its folder, for step 120.
  std::string fileName(Index step) const;
  std::string stepPath(Index step) const;
  void checkWrite(Index step, double time) const;
  void addRows(Ref<DTensor> tensor, const std::string& name, const std::string& components);
  void checkComponents(const DTensor& tensor, const Shape& shape, const std::string& components,
                       const std::string& name) const;
  bool isNetcdf() const {
    return settings_.value<std::string>("field_format", owner()) == "netcdf";
  }
  void writeMesh(Index step);
  void writeHdf5(Index step, double time);
  // Returns the part of the .xmf text for one time, generated from its file.
  std::string textOf(Index step) const;
  void findEarlier(Index step);
  void writeList(Index step);

  CommPtr comm_;
  std::string path_, name_; // "run1/heat", "heat"
  Settings settings_;
  FieldGrid grid_;
  Ref<Checkpoint> files_;                 // has all fields, and writes one file per time
  std::unique_ptr<const FieldMesh> mesh_; // replaces the grid, if not null
  // A field on the mesh: the user's tensor (`given`), a tensor with the same rows in the order of
  // ids (`sorted`), and the operator that redistributes the first to the second.
  struct SortedField {
    Ref<DTensor> given, sorted;
    std::unique_ptr<IndexMapOp> sort;
  };
  std::vector<SortedField> sorted_;
  std::vector<CfField> cfFields_;   // all fields, for NetCDF
  Shape space_;                     // extents that all fields have in common; empty without fields
  std::vector<std::string> fields_; // "u [2,64,64]", for describe()
  std::optional<Index> lastStep_;   // none before the first write()
  bool hasMeshFile_ = false, hasList_ = false; // HDF5 files that this run has written
  // On rank 0: the part of the .xmf text for each time, by step.
  std::map<Index, std::string> times_;
};

} // namespace tenon
