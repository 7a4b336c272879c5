// SPDX-License-Identifier: BSD-2-Clause
// Series of fields in NetCDF files (io/cf), read back as datasets: every element of each component,
// coordinates, bounds, and the order of a mesh by ids. After an error the old file remains, and no
// temporary one. check_cf.py reads such files by netCDF4 and xarray.
#include "training_run.hpp"

#include "geometry/mesh/edges.hpp"
#include "io/dataset/file_dataset.hpp"
#include "io/field_series.hpp"
#include "sys/expect_error.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>

namespace tenon {
namespace {

using test::SharedFolder;
using test::world;

// A tensor whose elements are `first` plus their global row-major index.
Ref<DTensor> numbered(Shape shape, const char* properties, TenonDataType type) {
  return makeRef<DTensor>(world(),
                          Layout({.shape = std::move(shape),
                                  .grid = Grid::make({world()->size()}),
                                  .properties = parseProperties(properties)}),
                          type);
}

void number(DTensor& x, double first) {
  fillByIndex(x, [=](Index i) { return first + static_cast<double>(i); });
}

// All values of a variable of a series of files, the same on all ranks.
std::vector<double> valuesOf(const std::string& pattern, const std::string& variable,
                             const Shape& shape) {
  FileDataset data(world(), pattern, variable, "");
  EXPECT_EQ(data.shape(), shape) << variable;
  const Layout whole({.shape = data.shape(),
                      .grid = Grid::make({world()->size()}),
                      .properties = parseProperties("B")});
  data.setUp(whole, nullptr);
  DTensor x(world(), whole, TENON_FLOAT64);
  data.getBatch(0, 0, x, nullptr);
  const HostView<const double> view(x);
  std::vector<double> values;
  for (Index i = 0; i < x.localElements(); ++i)
    values.push_back(view[i]);
  return values;
}

// velocity [1,2,5,7] has its component c in row y and column x at 35 c + 7 y + x.
TEST(CfFields, GridsAreReadBack) {
  const SharedFolder folder("cf_grid");
  FieldSeries series(world(), folder / "flow", 2);
  series.setText("field_format", "netcdf");
  series.setText("field_time_units", "days since 1850-01-01");
  series.setText("field_calendar", "noleap");
  series.setGrid({-1, 2.5}, {0.5, 0.25});
  const Ref<DTensor> velocity = numbered({1, 2, 5, 7}, "S3", TENON_FLOAT64),
                     pressure = numbered({5, 7}, "S0", TENON_FLOAT32),
                     kinds = numbered({5, 7}, "S1", TENON_INT32);
  series.addTensor(velocity, "velocity", "u,v");
  series.addTensor(pressure, "p", "");
  series.addTensor(kinds, "kind", "");
  for (const Index step : {3, 5}) {
    number(*velocity, 1000.0 * static_cast<double>(step));
    number(*pressure, static_cast<double>(step));
    number(*kinds, -static_cast<double>(step));
    series.write(step, 0.5 * static_cast<double>(step));
  }
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"flow-000003.nc", "flow-000005.nc"}));
  const std::string all = folder / "flow-*.nc";
  std::vector<double> u, v, p, kind;
  for (const double step : {3.0, 5.0})
    for (int i = 0; i < 35; ++i) {
      u.push_back(1000 * step + i);
      v.push_back(1000 * step + 35 + i);
      p.push_back(step + i);
      kind.push_back(i - step);
    }
  EXPECT_EQ(valuesOf(all, "u", {2, 5, 7}), u);
  EXPECT_EQ(valuesOf(all, "v", {2, 5, 7}), v);
  EXPECT_EQ(valuesOf(all, "p", {2, 5, 7}), p);
  EXPECT_EQ(valuesOf(all, "kind", {2, 5, 7}), kind);
  EXPECT_EQ(valuesOf(all, "time", {2}), (std::vector<double>{1.5, 2.5}));
  EXPECT_EQ(valuesOf(all, "step", {2}), (std::vector<double>{3, 5}));
  const std::string one = folder / "flow-000005.nc";
  EXPECT_EQ(valuesOf(one, "y", {5}), (std::vector<double>{-0.75, -0.25, 0.25, 0.75, 1.25}));
  EXPECT_EQ(valuesOf(one, "y_bounds", {5, 2}),
            (std::vector<double>{-1, -0.5, -0.5, 0, 0, 0.5, 0.5, 1, 1, 1.5}));
  EXPECT_NE(FileDataset(world(), all, "time", "").describe().find("units days since 1850-01-01"),
            std::string::npos);
}

TEST(CfFields, PointsHaveNoBounds) {
  const SharedFolder folder("cf_points");
  FieldSeries series(world(), folder / "T", 3);
  series.setText("field_format", "netcdf");
  series.setText("field_center", "node");
  const Ref<DTensor> t = numbered({3, 2, 4}, "S1", TENON_FLOAT32);
  number(*t, 0);
  series.addTensor(t, "T", "");
  series.write(0, 0);
  const std::string path = folder / "T-000000.nc";
  EXPECT_EQ(valuesOf(path, "z", {3}), (std::vector<double>{0, 1, 2}));
  EXPECT_EQ(valuesOf(path, "T", {1, 3, 2, 4}).back(), 23);
  expectError(TENON_ERR_FORMAT, {"no variable 'z_bounds'"},
              [&] { FileDataset(world(), path, "z_bounds", ""); });
}

// Each rank has a unit square of two triangles (0,1,2) and (1,3,2) with four nodes of its own; ids
// descend from rank to rank, so the file has the squares of the last rank first.
TEST(CfFields, MeshesAreWrittenInTheOrderOfIds) {
  const SharedFolder folder("cf_mesh");
  const Index rank = world()->rank(), ranks = world()->size();
  const auto mapOf = [&](Index count) {
    std::vector<Index> ids;
    for (Index n = 0; n < count; ++n)
      ids.push_back((ranks - 1 - rank) * count + n);
    return makeRef<IndexMapObject>(world(), makeIndexMapFromIds(*world(), count, ids), ids);
  };
  const Ref<IndexMapObject> cells = mapOf(2), nodes = mapOf(4);
  const auto left = static_cast<double>(10 * rank);
  FieldSeries series(world(), folder / "tri", 2);
  series.setText("field_format", "netcdf");
  series.setMesh(
      {cells, nodes, "triangle", {0, 1, 2, 1, 3, 2}, {left, 0, left + 1, 0, left, 1, left + 1, 1}});
  const auto flux = makeRef<DTensor>(world(), rowsLayout(cells->map()->from(), {2}), TENON_FLOAT64);
  {
    HostView<double> view(*flux);
    for (Index i = 0; i < 4; ++i) // cell 0: 0 and 1, cell 1: 2 and 3
      view[i] = static_cast<double>(100 * rank + i);
  }
  series.addTensor(flux, "flux", "east,north");
  series.write(7, 1);
  const std::string path = folder / "tri-000007.nc";
  std::vector<double> x, east, north, corners;
  for (Index at = 0; at < ranks; ++at) { // squares in the file
    const auto owner = static_cast<double>(ranks - 1 - at), first = static_cast<double>(4 * at);
    x.insert(x.end(), {10 * owner, 10 * owner + 1, 10 * owner, 10 * owner + 1});
    east.insert(east.end(), {100 * owner, 100 * owner + 2});
    north.insert(north.end(), {100 * owner + 1, 100 * owner + 3});
    for (const double corner : {0, 1, 2, 1, 3, 2})
      corners.push_back(first + corner);
  }
  EXPECT_EQ(valuesOf(path, "mesh_node_x", {4 * ranks}), x);
  EXPECT_EQ(valuesOf(path, "mesh_face_nodes", {2 * ranks, 3}), corners);
  EXPECT_EQ(valuesOf(path, "east", {1, 2 * ranks}), east);
  EXPECT_EQ(valuesOf(path, "north", {1, 2 * ranks}), north);
}

TEST(CfFields, AfterAnErrorTheOldFileRemains) {
  const SharedFolder folder("cf_error");
  const Ref<DTensor> a = numbered({4, 6}, "S0", TENON_FLOAT64);
  number(*a, 1);
  {
    FieldSeries first(world(), folder / "a", 2);
    first.setText("field_format", "netcdf");
    first.addTensor(a, "p", "");
    first.write(0, 0);
  }
  FieldSeries second(world(), folder / "a", 2);
  second.setText("field_format", "netcdf");
  number(*a, 500);
  second.addTensor(a, "p", "");
  second.addTensor(a, "time", ""); // as the coordinate is named
  expectError(TENON_ERR_FILE, {"a-000000.nc", "'time'", "in use"}, [&] { second.write(0, 0); });
  MPI_Barrier(MPI_COMM_WORLD); // rank 0 removes its temporary file
  EXPECT_EQ(folder.names(), std::vector<std::string>{"a-000000.nc"});
  EXPECT_EQ(valuesOf(folder / "a-000000.nc", "p", {1, 4, 6}).front(), 1);
  expectError(TENON_ERR_ARG, {"checkpoint_transport", "rank 0"},
              [&] { second.setText("checkpoint_transport", "together"); });
}

// The NetCDF library switches the messages of HDF5 off when it starts.
TEST(CfFields, TheProgramKeepsItsMessagesOfHdf5) {
  const SharedFolder folder("cf_messages");
  FieldSeries series(world(), folder / "a", 2);
  series.setText("field_format", "netcdf");
  const Ref<DTensor> a = numbered({4, 6}, "S0", TENON_FLOAT64);
  number(*a, 1);
  series.addTensor(a, "p", "");
  series.write(0, 0);
  EXPECT_EQ(valuesOf(folder / "a-000000.nc", "p", {1, 4, 6}).front(), 1);
  H5E_auto2_t print = nullptr;
  void* context = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &print, &context);
  EXPECT_NE(print, nullptr);
}

} // namespace
} // namespace tenon
