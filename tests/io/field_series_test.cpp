// SPDX-License-Identifier: BSD-2-Clause
// Series of fields (io/field_series.hpp): errors for fields and meshes that do not match, names of
// files, and continuation after a restart. A file of a series is a checkpoint, so it is also read
// as one here. check_fields.py tests the contents of the files with other programs.
#include "training_run.hpp"

#include "geometry/mesh/edges.hpp"
#include "io/field_series.hpp"
#include "io/xdmf.hpp"
#include "sys/traps.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace tenon {
namespace {

using test::SharedFolder;
using test::world;

// Returns a tensor of this shape, distributed over all ranks.
Ref<DTensor> fieldOf(Shape shape, const char* properties = "S0") {
  return makeRef<DTensor>(world(),
                          Layout({.shape = std::move(shape),
                                  .grid = Grid::make({world()->size()}),
                                  .properties = parseProperties(properties)}),
                          TENON_FLOAT64);
}

// Expects an error with this code, whose text contains the words.
template <class Call>
void expectFieldError(TenonErrorCode code, const std::string& words, Call call) {
  try {
    call();
    ADD_FAILURE() << "no error with the words " << words;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.text();
    EXPECT_NE(error.text().find(words), std::string::npos) << error.text();
  }
}

TEST(FieldSeries, RefusesTensorsThatAreNotFieldsOnItsGrid) {
  const NoTraps noTraps; // for the infinite time, 1.0 / 0.0
  const SharedFolder folder("fields_refused");
  expectFieldError(TENON_ERR_ARG, "needs 2 or 3", [&] { FieldSeries(world(), folder / "a", 1); });
  expectFieldError(TENON_ERR_ARG, "names no file", [&] { FieldSeries(world(), folder / "", 2); });
  for (const char* name : {"a\x1b", "a\n", "\xe4"})
    expectFieldError(TENON_ERR_ARG, "name of a series' files",
                     [&] { FieldSeries(world(), folder / name, 2); });
  expectFieldError(TENON_ERR_ARG, "as checkpoints of steps are",
                   [&] { FieldSeries(world(), folder / "step", 2); });
  FieldSeries series(world(), folder / "a", 2);
  expectFieldError(TENON_ERR_ARG, "has no field", [&] { series.write(0, 0); });
  expectFieldError(TENON_ERR_ARG, "it must be > 0", [&] { series.setGrid({0, 0}, {1, 0}); });
  expectFieldError(TENON_ERR_ARG, "has 2 dimensions", [&] {
    series.setGrid({0, 0, 0}, {1, 1, 1});
  });
  expectFieldError(TENON_ERR_SHAPE, "[6]", [&] { series.addTensor(fieldOf({6}), "u", ""); });
  if (world()->size() > 1) // on one rank partial sums are the sums
    expectFieldError(TENON_ERR_LAYOUT, "partial sums", [&] {
      series.addTensor(fieldOf({4, 6}, "P"), "u", "");
    });
  expectFieldError(TENON_ERR_ARG, "1 name, but", [&] {
    series.addTensor(fieldOf({2, 4, 6}), "u", "x");
  });
  for (const char* name : {"u\n", "\x1b[31mred", "\x7f"})
    expectFieldError(TENON_ERR_ARG, "control character", [&] {
      series.addTensor(fieldOf({4, 6}), name, "");
    });
  expectFieldError(TENON_ERR_ARG, "control character", [&] {
    series.addTensor(fieldOf({2, 4, 6}), "u", "x,\ty");
  });
  series.addTensor(fieldOf({2, 4, 6}), "u", "x,y");
  expectFieldError(TENON_ERR_SHAPE, "[4,6]", [&] { series.addTensor(fieldOf({4, 5}), "v", ""); });
  expectFieldError(TENON_ERR_ARG, "has a tensor 'u'", [&] {
    series.addTensor(fieldOf({4, 6}), "u", "");
  });
  series.write(3, 0.5);
  expectFieldError(TENON_ERR_ARG, "steps must grow", [&] { series.write(3, 0.75); });
  expectFieldError(TENON_ERR_ARG, "finite", [&] { series.write(4, 1.0 / 0.0); });
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"a-000003.h5", "a.xmf"}));
}

// Each rank has a unit square of two triangles (0,1,2) and (1,3,2) with four nodes of its own. Each
// call of refused() changes one list.
TEST(FieldSeries, RefusesInvalidMeshes) {
  const SharedFolder folder("fields_no_mesh");
  const int rank = world()->rank();
  const auto mapOf = [&](Index count) {
    std::vector<Index> ids;
    for (Index n = 0; n < count; ++n)
      ids.push_back(rank * count + n);
    return makeRef<IndexMapObject>(world(), makeIndexMapFromIds(*world(), count, ids), ids);
  };
  const Ref<IndexMapObject> cells = mapOf(2), nodes = mapOf(4);
  const std::vector<Index> corners{0, 1, 2, 1, 3, 2};
  const std::vector<double> places{0, 0, 1, 0, 0, 1, 1, 1}, loose(12, 0.5);
  FieldSeries series(world(), folder / "a", 2);
  const auto refused = [&](TenonErrorCode code, const std::string& words, const ListedMesh& mesh) {
    expectFieldError(code, words, [&] { series.setMesh(mesh); });
  };
  refused(TENON_ERR_ARG, "no shape 'square'", {cells, nodes, "square", corners, places});
  refused(TENON_ERR_ARG, "expected 6", {cells, nodes, "triangle", {0, 1, 2}, places});
  refused(TENON_ERR_ARG, "corner has entries, but nodes is NULL",
          {cells, {}, "triangle", corners, loose});
  refused(TENON_ERR_ARG, "expected 8: 2 for each owned node",
          {cells, nodes, "triangle", corners, loose});
  refused(TENON_ERR_ARG, "expected 12: 2 for each corner", {cells, {}, "triangle", {}, places});
  refused(TENON_ERR_ARG, "corner[5] of rank",
          {cells, nodes, "triangle", {0, 1, 2, 1, 3, 4}, places});
  const auto noIds = makeRef<IndexMapObject>(world(), cells->map());
  refused(TENON_ERR_LAYOUT, "knows no ids", {noIds, {}, "triangle", {}, loose});
  series.setMesh({cells, nodes, "triangle", corners, places});
  refused(TENON_ERR_STATE, "has a mesh already", {cells, nodes, "triangle", corners, places});
  expectFieldError(TENON_ERR_LAYOUT, "but the mesh has cells in",
                   [&] { series.addTensor(fieldOf({3 * world()->size()}), "u", ""); });
  const auto fieldOn = [&](const Ref<IndexMapObject>& rows) {
    return makeRef<DTensor>(world(), rowsLayout(rows->map()->from(), {2}), TENON_FLOAT64);
  };
  expectFieldError(TENON_ERR_ARG, "1 name, but",
                   [&] { series.addTensor(fieldOn(cells), "u", "x"); });
  series.addTensor(fieldOn(cells), "u", "");
  series.addTensor(fieldOn(nodes), "T", "");
  EXPECT_NE(series.describe().find("u ["), std::string::npos);
  EXPECT_NE(series.describe().find("of nodes"), std::string::npos);
  series.write(0, 0);
  series.write(5, 1);
  // A run writes its mesh once. A run that continues from another step writes its own mesh, and the
  // list contains both.
  FieldSeries later(world(), folder / "a", 2);
  later.setMesh({cells, nodes, "triangle", corners, places});
  later.addTensor(fieldOn(cells), "u", "");
  later.write(7, 2);
  EXPECT_EQ(folder.names(),
            (std::vector<std::string>{"a-000000-mesh.h5", "a-000000.h5", "a-000005.h5",
                                      "a-000007-mesh.h5", "a-000007.h5", "a.xmf"}));
  std::ifstream list(folder / "a.xmf");
  const std::string text{std::istreambuf_iterator<char>(list), {}};
  const auto count = [&](const std::string& words) {
    int found = 0;
    for (std::size_t at = text.find(words); at != text.npos; at = text.find(words, at + 1))
      ++found;
    return found;
  };
  EXPECT_EQ(count("a-000000-mesh.h5:/tensors/mesh_places"), 2);
  EXPECT_EQ(count("a-000007-mesh.h5:/tensors/mesh_corners"), 1);
  EXPECT_EQ(count("a-000005.h5:/tensors/u"), 2);
}

TEST(FieldSeries, MakesItsFolder) {
  const SharedFolder folder("fields_folder");
  const auto u = fieldOf({4, 6});
  FieldSeries series(world(), folder / "new/run 1/a", 2);
  series.addTensor(u, "u", "");
  series.write(1, 0.5);
  EXPECT_EQ(std::filesystem::exists(folder / "new/run 1/a-000001.h5"), true);
  if (world()->rank() == 0)
    std::ofstream(folder / "file") << "no folder";
  MPI_Barrier(MPI_COMM_WORLD);
  FieldSeries wrong(world(), folder / "file/a", 2);
  wrong.addTensor(u, "u", "");
  try {
    wrong.write(1, 0.5);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), TENON_ERR_FILE);
    EXPECT_NE(std::string(error.text()).find("cannot make folder"), std::string::npos)
        << error.text();
  }
}

TEST(FieldSeries, ContinuesAfterARestartAndOmitsDamagedFiles) {
  const SharedFolder folder("fields_restart");
  const auto u = fieldOf({4, 6});
  {
    FieldSeries series(world(), folder / "a", 2);
    series.addTensor(u, "u", "");
    for (const Index step : {1, 2, 3}) {
      fillConstant(*u, static_cast<double>(step));
      series.write(step, static_cast<double>(step));
    }
  }
  if (world()->rank() == 0) {
    std::filesystem::resize_file(folder / "a-000001.h5", 1000);
    std::ofstream(folder / ".a-000003.h5.part.abc") << "of a writer that was killed";
  }
  MPI_Barrier(MPI_COMM_WORLD);
  Checkpoint checkpoint(world());
  checkpoint.addTensor(u, "u");
  checkpoint.read(folder / "a-000002.h5");
  EXPECT_EQ(std::get<double>(checkpoint.value("time")), 2);
  const HostView<const double> view(*u);
  for (Index i = 0; i < u->localElements(); ++i)
    EXPECT_EQ(view[i], 2);
  FieldSeries series(world(), folder / "a", 2);
  series.addTensor(u, "u", "");
  testing::internal::CaptureStderr();
  series.write(3, 2.5);
  const std::string warnings = testing::internal::GetCapturedStderr();
  EXPECT_EQ(warnings.find("a-000001.h5") != std::string::npos, world()->rank() == 0) << warnings;
  EXPECT_EQ(folder.names(),
            (std::vector<std::string>{"a-000001.h5", "a-000002.h5", "a-000003.h5", "a.xmf"}));
  std::ifstream file(folder / "a.xmf");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text.find("a-000001.h5"), text.npos);
  EXPECT_NE(text.find("<Time Value=\"2\"/>"), text.npos);
  EXPECT_NE(text.find("<Time Value=\"2.5\"/>"), text.npos);
  EXPECT_EQ(text.find("<Time Value=\"3\"/>"), text.npos);
}

// A file of fields can be damaged. Fewer names than components would be read beyond their end, and
// so would the shape of a field without dimensions, which has no rows: it is not a field of a mesh.
TEST(Xdmf, RejectsFieldsWithoutANameForEachComponentAndLeavesOutThoseWithoutRows) {
  NamedFile fields{"a-000001.h5", {}};
  fields.file.values = {{"step", Index(1)}, {"time", 0.5}};
  putGrid(fields.file.values, {.origin = {0, 0}, .spacing = {1, 1}});
  fields.file.tensors = {{.path = "tensors/u", .type = TENON_FLOAT64, .shape = {3, 4, 4}}};
  EXPECT_NE(xdmfOfFile(fields).find("Name=\"u_2\""), std::string::npos); // without names of its own
  fields.file.values[componentsKey("u")] = std::string("east,north");
  expectFieldError(TENON_ERR_FORMAT, "a-000001.h5': field 'u' has 3 components and 2 names",
                   [&] { xdmfOfFile(fields); });
  NamedFile mesh{"a-000002.h5", {}};
  mesh.file.values = {{"step", Index(2)}, {"time", 1.0}, {kMeshShape, std::string("triangle")}};
  mesh.file.values[centerKey("u")] = std::string("cell");
  mesh.file.tensors = {{.path = "tensors/mesh_places", .type = TENON_FLOAT64, .shape = {3, 2}},
                       {.path = "tensors/mesh_corners", .type = TENON_INT64, .shape = {1, 3}},
                       {.path = "tensors/u", .type = TENON_FLOAT64, .shape = {}}};
  expectFieldError(TENON_ERR_FORMAT, "has no fields", [&] { xdmfOfFile(mesh); });
}

} // namespace
} // namespace tenon
