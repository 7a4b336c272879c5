// SPDX-License-Identifier: BSD-2-Clause
// Batches from NetCDF files of 15 kinds, as models, satellites and xarray write them. make.py in
// tests/data/netcdf wrote the files by netCDF4 and xarray, and for each what its numbers mean: the
// values as netCDF4 decodes them. Those of the classic formats and two of NetCDF-4 are in the
// repository; with the environment variable TENON_NETCDF_CASES the test reads a folder of files
// that the script has just written. Each rank must get its box of values and masks, for all
// layouts and both types. Further tests: damaged files, files that do not form a series, and
// errors.
#include "training_run.hpp"

#include "io/dataset/file_dataset.hpp"
#include "io/hdf5_file.hpp"
#include "sys/expect_error.hpp"
#include "sys/traps.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace tenon {
namespace {

using test::SharedFolder;
using test::world;

// A file of make.py, or a series, with its values; NaN where one is missing.
struct Case {
  std::string name, pattern, variable;
  bool areIntegers = false;
  double tolerance = 0;
  Shape shape;
  std::vector<double> values;
};

std::vector<Case> casesIn(const std::string& folder) {
  std::vector<Case> cases;
  std::ifstream list(folder + "/cases.txt");
  for (std::string line; std::getline(list, line);) {
    Case one;
    std::istringstream words(line);
    words >> one.name >> one.pattern >> one.variable >> one.areIntegers >> one.tolerance;
    for (Index extent = 0; words >> extent;)
      one.shape.push_back(extent);
    one.pattern = folder + "/" + one.pattern;
    one.values.resize(static_cast<std::size_t>(elements(one.shape)));
    std::ifstream values(folder + "/" + one.name + ".f64", std::ios::binary);
    values.read(reinterpret_cast<char*>(one.values.data()),
                static_cast<std::streamsize>(one.values.size() * sizeof(double)));
    EXPECT_TRUE(values.good()) << one.name;
    cases.push_back(std::move(one));
  }
  EXPECT_FALSE(cases.empty()) << folder;
  return cases;
}

Case caseOf(const std::string& name) {
  for (const Case& one : casesIn(TENON_TEST_NETCDF))
    if (one.name == name)
      return one;
  ADD_FAILURE() << name;
  return {};
}

constexpr double kFill = -1234; // in place of missing values

// Calls f(position in this rank's array, position in the values of the case) for each element of a
// batch.
template <class F>
void forEachElement(const Case& one, Index firstSample, const DTensor& x, F f) {
  const Shape strides = rowMajorStrides(one.shape), extent = x.extent(),
              within = rowMajorStrides(extent);
  for (Index i = 0; i < x.localElements(); ++i) {
    Index global = firstSample * strides[0], local = 0;
    for (std::size_t d = 0; d < extent.size(); ++d) {
      const Index index = i / within[d] % extent[d];
      global += (x.box()[d].begin + index) * strides[d];
      local += index * x.strides()[d];
    }
    f(local, static_cast<std::size_t>(global));
  }
}

void expectBatch(const Case& one, Index firstSample, const DTensor& x, const DTensor& mask) {
  double largest = 1;
  for (const double value : one.values)
    largest = std::isnan(value) ? largest : std::max(largest, std::abs(value));
  const auto compare = [&]<class T>(const HostView<const T>& view) {
    forEachElement(one, firstSample, x, [&](Index local, std::size_t global) {
      const double value = one.values[global];
      const double expected = std::isnan(value) ? kFill : static_cast<double>(T(value));
      ASSERT_NEAR(static_cast<double>(view[local]), expected, one.tolerance * largest)
          << one.name << " at " << global;
    });
  };
  if (x.dataType() == TENON_INT64)
    compare(HostView<const std::int64_t>(x));
  else
    visitFloating(x.dataType(), [&]<class T>(T) { compare(HostView<const T>(x)); });
  visitFloating(mask.dataType(), [&]<class T>(T) {
    const HostView<const T> view(mask);
    forEachElement(one, firstSample, mask, [&](Index local, std::size_t global) {
      ASSERT_EQ(view[local], std::isnan(one.values[global]) ? T(0) : T(1))
          << one.name << " at " << global;
    });
  });
}

// A layout that splits these dimensions, over a grid of 2 x 2 ranks if there are 4, otherwise over
// all ranks in one line.
Layout splitOf(Shape shape, const std::string& properties) {
  const int ranks = world()->size();
  return Layout({.shape = std::move(shape),
                 .grid = ranks == 4 ? Grid::make({2, 2}) : Grid::make({ranks, 1}),
                 .properties = parseProperties(properties)});
}

void expectCase(const Case& one, const std::string& properties, TenonDataType type,
                bool isPrefetching) {
  SCOPED_TRACE(one.name + " " + properties);
  FileDataset data(world(), one.pattern, one.variable, one.areIntegers ? one.variable : "");
  ASSERT_EQ(data.shape(), one.shape);
  data.setText("fill_missing", std::to_string(kFill));
  data.set("dataset_prefetch", isPrefetching);
  Shape batchShape = one.shape;
  batchShape[0] = (one.shape[0] + 1) / 2;
  const Layout layout = splitOf(batchShape, properties);
  data.setUp(layout, one.areIntegers ? &layout : nullptr);
  DTensor x(world(), layout, type), mask(world(), layout, type),
      labels(world(), layout, TENON_INT64), labelMask(world(), layout, TENON_FLOAT32);
  for (Index batch = 0; batch < data.batches(); ++batch) {
    data.getBatch(0, batch, x, one.areIntegers ? &labels : nullptr);
    data.getMasks(0, batch, &mask, one.areIntegers ? &labelMask : nullptr);
    expectBatch(one, batch * batchShape[0], x, mask);
    if (one.areIntegers)
      expectBatch(one, batch * batchShape[0], labels, labelMask);
  }
}

void expectAllCases(const std::string& folder, bool isPrefetching) {
  const NoTraps noTraps; // NaN marks missing values here
  for (const Case& one : casesIn(folder)) {
    const std::string last = std::to_string(one.shape.size() - 1);
    expectCase(one, "S0,S" + last, TENON_FLOAT64, isPrefetching);
    expectCase(one, "S" + last + ",B", TENON_FLOAT32, isPrefetching);
  }
}

// HDF5 reads NetCDF-4 files in a build without the NetCDF library. It must decode the same values;
// samples that were never written are not in its dataset.
void expectSameByHdf5(const std::string& folder) {
  const NoTraps noTraps;
  Index compared = 0;
  for (const Case& one : casesIn(folder)) {
    if (one.name == "years" || !isNetcdf4(one.pattern, one.variable))
      continue;
    SCOPED_TRACE(one.name);
    const auto file = openHdf5Samples(one.pattern, one.variable);
    Box whole;
    for (const Index extent : file->facts().shape)
      whole.push_back({0, extent});
    std::vector<double> values(static_cast<std::size_t>(elements(whole)));
    file->read(whole, TENON_FLOAT64, reinterpret_cast<std::byte*>(values.data()));
    std::vector<Index> missing;
    file->facts().encoding.decode(std::span(values), 0, missing);
    for (const Index position : missing)
      values[static_cast<std::size_t>(position)] = std::nan("");
    values.resize(one.values.size(), std::nan(""));
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_TRUE(std::isnan(one.values[i])
                      ? std::isnan(values[i])
                      : std::abs(values[i] - one.values[i]) <=
                            one.tolerance * (1 + std::abs(one.values[i])) * 100)
          << i << ": " << values[i] << ", expected " << one.values[i];
    ++compared;
  }
  EXPECT_GE(compared, 2);
}

TEST(NetcdfDataset, FilesOfTheRepositoryAreDecoded) {
  expectAllCases(TENON_TEST_NETCDF, /*isPrefetching=*/true);
}

TEST(NetcdfDataset, FilesOfXarrayAndNetcdf4AreDecoded) {
  const char* folder = std::getenv("TENON_NETCDF_CASES");
  if (!folder)
    GTEST_SKIP() << "TENON_NETCDF_CASES names no folder of make.py";
  expectAllCases(folder, /*isPrefetching=*/true);
  expectAllCases(folder, /*isPrefetching=*/false);
  if (hdf5Library() != "none")
    expectSameByHdf5(folder);
}

TEST(NetcdfDataset, Hdf5AloneDecodesTheSameNumbers) {
  if (hdf5Library() == "none")
    GTEST_SKIP() << "this build has no HDF5";
  expectSameByHdf5(TENON_TEST_NETCDF);
}

// The first missing value of SST is that of sample 0 and position [0,0], and its mark 1e20.
TEST(NetcdfDataset, MissingValuesAreAnErrorUnlessTheyGetANumber) {
  const NoTraps noTraps;
  const Case one = caseOf("ocean_history");
  FileDataset data(world(), one.pattern, one.variable, "");
  const Layout whole = splitOf(one.shape, "B,B");
  data.setUp(whole, nullptr);
  DTensor x(world(), whole, TENON_FLOAT64), mask(world(), whole, TENON_FLOAT64);
  const auto get = [&] { data.getBatch(0, 0, x, nullptr); };
  expectError(
      TENON_ERR_FORMAT,
      {one.pattern.c_str(), "'SST'", "[0,0,0]", "1e+20", "fill_missing", "TenonDatasetGetMasks()"},
      get);
  expectError(TENON_ERR_ARG, {"fill_missing", "land"},
              [&] { data.setText("fill_missing", "land"); });
  data.setText("fill_missing", "-1234");
  data.set("sample_scale", 2.0); // not of the number that missing values get
  get();
  data.getMasks(0, 0, &mask, nullptr);
  const HostView<const double> view(x), present(mask);
  forEachElement(one, 0, x, [&](Index local, std::size_t global) {
    const bool isMissing = std::isnan(one.values[global]);
    EXPECT_EQ(view[local], isMissing ? -1234 : 2 * one.values[global]);
    EXPECT_EQ(present[local], isMissing ? 0 : 1);
  });
}

TEST(NetcdfDataset, ViewNamesDimensionsUnitsAndPacking) {
  const Case one = caseOf("reanalysis"), years = caseOf("years");
  const std::string text = FileDataset(world(), one.pattern, "/t2m", "").describe();
  for (const char* part : {"reanalysis.nc", "time=6,latitude=3,longitude=4", "CDF-2", "units K",
                           "scale_factor 0.00153", "add_offset 267.5", "-32767"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  const std::string series = FileDataset(world(), years.pattern, "z", "").describe();
  EXPECT_NE(series.find("3 files"), std::string::npos) << series;
  EXPECT_NE(series.find("years_b.nc' to"), std::string::npos) << series;
}

TEST(NetcdfDataset, ErrorsNameFileVariableAndNumbers) {
  const Case one = caseOf("ocean_history"), weather = caseOf("weather"),
             groups = caseOf("satellite_groups");
  const auto open = [](const Case& of, const char* samples, const char* labels = "") {
    return [=] { FileDataset(world(), of.pattern, samples, labels); };
  };
  expectError(TENON_ERR_FORMAT, {one.pattern.c_str(), "'sst'", "SST, SSH"}, open(one, "sst"));
  expectError(TENON_ERR_FORMAT, {"no group 'ocean'"}, open(one, "ocean/SST"));
  expectError(TENON_ERR_FORMAT, {groups.pattern.c_str(), "'cloud'", "PRODUCT/"},
              open(groups, "cloud"));
  expectError(TENON_ERR_FORMAT, {"'Times'", "type of numbers"}, open(weather, "Times"));
  expectError(TENON_ERR_FILE, {"nowhere_*.nc", "no file matches"},
              [] { FileDataset(world(), "nowhere_*.nc", "x", ""); });
  FileDataset data(world(), one.pattern, "SST", "");
  const Layout wrong = splitOf({2, 4, 7}, "B,B");
  expectError(TENON_ERR_SHAPE, {"[2,4,7]", "[batch,4,3]", "(xh)", "7", "3"},
              [&] { data.setUp(wrong, nullptr); });
}

std::string contentsOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Rank 0 writes the file; the others wait.
void writeOn0(const std::string& path, const std::string& contents) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (world()->rank() == 0)
    std::ofstream(path, std::ios::binary) << contents;
  MPI_Barrier(MPI_COMM_WORLD);
}

// The library itself reads zeros beyond the end of a classic file.
TEST(NetcdfDataset, TruncatedClassicFilesAreRefusedOnAllRanks) {
  const SharedFolder folder("truncated");
  const std::string path = folder / "file.nc";
  for (const char* name : {"ocean_history", "reanalysis", "mesh", "records_of_bytes"}) {
    const Case one = caseOf(name);
    const std::string whole = contentsOf(one.pattern);
    // The last 3 bytes can be padding, without which nothing is missing.
    for (const std::size_t size :
         {whole.size() - 4, whole.size() - 9, whole.size() / 2, std::size_t(40), std::size_t(5)}) {
      writeOn0(path, whole.substr(0, size));
      expectError(TENON_ERR_FORMAT, {path.c_str(), "NetCDF", "truncated"},
                  [&] { FileDataset(world(), path, one.variable, ""); });
    }
  }
}

// Whatever a damaged header says, the file is refused or read without access beyond it.
TEST(NetcdfDataset, DamagedHeadersDoNotCrash) {
  const NoTraps noTraps; // as in a call of the library; a damaged number can be a signalling NaN
  const SharedFolder folder("damaged");
  const std::string path = folder / ("file" + std::to_string(world()->rank()) + ".nc");
  for (const char* name : {"ocean_history", "mesh", "weather"}) {
    const Case one = caseOf(name);
    const std::string whole = contentsOf(one.pattern);
    const std::size_t end = std::min<std::size_t>(whole.size(), 300);
    for (auto at = static_cast<std::size_t>(3 + world()->rank()); at < end;
         at += static_cast<std::size_t>(world()->size())) // each rank has a share of the bytes
      for (const char byte : {'\xff', '\x00', '\x7f'}) {
        std::string damaged = whole;
        damaged[at] = byte;
        std::ofstream(path, std::ios::binary) << damaged;
        try {
          openSampleFile(path, one.variable);
        } catch (const Error& error) {
          EXPECT_TRUE(error.code() == TENON_ERR_FORMAT || error.code() == TENON_ERR_SHAPE)
              << error.text();
          EXPECT_NE(error.text().find(path), std::string::npos) << error.text();
        }
      }
  }
}

TEST(NetcdfDataset, TruncatedNetcdf4IsRefused) {
  const SharedFolder folder("truncated4");
  const Case one = caseOf("land_cover");
  const std::string whole = contentsOf(one.pattern), path = folder / "file.nc";
  writeOn0(path, whole.substr(0, whole.size() / 2));
  expectError(TENON_ERR_FORMAT, {path.c_str()},
              [&] { FileDataset(world(), path, one.variable, ""); });
}

TEST(NetcdfDataset, FilesThatDoNotContinueEachOtherAreRefused) {
  const SharedFolder folder("series");
  const Case years = caseOf("years"), mesh = caseOf("mesh"), bytes = caseOf("records_of_bytes");
  const std::string from(TENON_TEST_NETCDF);
  const auto copy = [&](const std::string& name, const std::string& to) {
    writeOn0(folder / to, contentsOf(from + "/" + name));
  };
  copy("years_a.nc", "twice_1.nc");
  copy("years_a.nc", "twice_2.nc");
  expectError(TENON_ERR_FORMAT, {"twice_1.nc", "twice_2.nc", "time ends at 8", "begins at 6"},
              [&] { FileDataset(world(), folder / "twice_*.nc", "z", ""); });
  copy("cell_numbers.nc", "cells_1.nc");
  copy("cell_numbers.nc", "cells_2.nc");
  expectError(TENON_ERR_FORMAT, {"cells_1.nc", "cells_2.nc", "cells, is not unlimited"},
              [&] { FileDataset(world(), folder / "cells_*.nc", "cellsOnCell", ""); });
  // Without a coordinate an unlimited dimension is enough.
  copy("mesh.nc", "mesh_1.nc");
  copy("mesh.nc", "mesh_2.nc");
  EXPECT_EQ(FileDataset(world(), folder / "mesh_*.nc", mesh.variable, "").shape(),
            (Shape{8, 11, 2}));
  // Another extent: x has 5 elements in the file of years, 4 in this one.
  std::string narrow = contentsOf(from + "/years_c.nc");
  const std::size_t x = narrow.find(std::string("\0\0\0\1x\0\0\0\0\0\0\5", 12));
  ASSERT_NE(x, std::string::npos);
  narrow[x + 11] = '\4';
  writeOn0(folder / "width_1.nc", contentsOf(from + "/years_b.nc"));
  writeOn0(folder / "width_2.nc", narrow);
  expectError(TENON_ERR_FORMAT, {"width_1.nc", "width_2.nc", "(x)", "5 elements", "4 in"},
              [&] { FileDataset(world(), folder / "width_*.nc", "z", ""); });
}

// The attributes scale_factor 0.01 and add_offset 273.15, and one range.
VariableAttributes packedWithRange(AttributeKind kind, std::vector<double> range) {
  return {.kind =
              [kind](const char* name) {
                return name == std::string("valid_range") ? kind : AttributeKind::None;
              },
          .numbers = [range](const char* name) -> std::optional<std::vector<double>> {
            const std::string which = name;
            if (which == "scale_factor" || which == "add_offset")
              return std::vector{which == "scale_factor" ? 0.01 : 273.15};
            if (which == "valid_range")
              return range;
            return std::nullopt;
          },
          .text = [](const char*) -> std::optional<std::string> { return std::nullopt; },
          .fail = [](const std::string& reason) { FAIL() << reason; }};
}

// By CF a range of the packed type holds stored numbers, one of the type of scale_factor values,
// whole numbers included: 1500 is 288.15.
TEST(Encoding, RealBoundsOfPackedIntegersAreBoundsOfValues) {
  const StoredNumbers shorts{.areIntegers = true, .bytes = 2};
  const auto missingOf = [&](AttributeKind kind, std::vector<double> range) {
    std::vector<double> numbers = {1500, -8000, 6000};
    std::vector<Index> missing;
    Encoding(shorts, packedWithRange(kind, std::move(range)))
        .decode(std::span(numbers), 0, missing);
    return missing;
  };
  EXPECT_EQ(missingOf(AttributeKind::Reals, {200, 330}), (std::vector<Index>{1, 2}));
  EXPECT_EQ(missingOf(AttributeKind::Integers, {200, 3300}), (std::vector<Index>{1, 2}));
  EXPECT_EQ(missingOf(AttributeKind::Integers, {-9000, 330}), (std::vector<Index>{0, 2}));
}

} // namespace
} // namespace tenon
