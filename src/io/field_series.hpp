// SPDX-License-Identifier: BSD-2-Clause
// Fields on a grid or a mesh over time, for ParaView: PATH-000120.h5 for each time, PATH.xmf for
// all. The file of a time is a checkpoint of the fields, with the grid among its values, or the
// name of the mesh's file, PATH-000000-mesh.h5; the text is made of what the files say. Rows of a
// mesh are written in the order of their ids, so that files do not depend on the partition.
#pragma once

#include "io/checkpoint.hpp"
#include "io/field_mesh.hpp"
#include "io/xdmf.hpp"
#include "linop/exchange/index_map_op.hpp"

#include <memory>

namespace tenon {

class FieldSeries final : public SettableObject {
public:
  static constexpr const char* kClass = "FieldSeries";
  // `path` without an ending; `space` dimensions of the grid, 2 or 3.
  FieldSeries(CommPtr comm, const std::string& path, int space);

  const CommPtr& comm() const noexcept { return comm_; }
  // They may change between any two times.
  const Settings& settings() const noexcept override { return settings_; }
  // Origin and spacing, in the order (z,) y, x.
  void setGrid(const std::vector<double>& origin, const std::vector<double>& spacing);
  // Collective. The rows of fields are from now on those of the cells or nodes.
  void setMesh(const ListedMesh& mesh);
  // `components` has names with commas between; "" stands for the name of the field with numbers.
  void addTensor(Ref<DTensor> tensor, const std::string& name, const std::string& components);
  // Collective.
  void write(Index step, double time);
  std::string describe() const override;

private:
  void takeOver(Settings after, const Settings::Names& names) override;
  std::string fileName(Index step) const;
  std::string stepPath(Index step) const;
  void checkWrite(Index step, double time) const;
  void addRows(Ref<DTensor> tensor, const std::string& name, const std::string& components);
  void checkComponents(const DTensor& tensor, const Shape& shape, const std::string& components,
                       const std::string& name) const;
  void writeMesh(Index step);
  // The part of the list that is about a time, from its file.
  std::string textOf(Index step) const;
  void findEarlier(Index step);
  void writeList(Index step);

  CommPtr comm_;
  std::string path_, name_; // "run1/heat", "heat"
  Settings settings_;
  FieldGrid grid_;
  Ref<Checkpoint> files_;
  std::unique_ptr<const FieldMesh> mesh_; // in place of the grid
  struct SortedField {
    Ref<DTensor> given, sorted;
    std::unique_ptr<IndexMapOp> sort;
  };
  std::vector<SortedField> sorted_;
  Shape space_; // extents that all fields have; empty without fields
  std::vector<std::string> fields_;
  std::optional<Index> lastStep_;
  // On rank 0: each time's part of the text, once the earlier ones are known.
  std::map<Index, std::string> times_;
};

} // namespace tenon
