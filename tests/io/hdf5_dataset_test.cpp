// SPDX-License-Identifier: BSD-2-Clause
// Batches from HDF5 files that another program wrote (here HDF5 itself). The file has 7 volumes of
// float and integer types, contiguous or compressed; element i of sample n is 1000 n + i. Every
// rank must get its box of each sample of a batch, scaled by the dataset's settings, for all types
// and distributions, read when it is requested or in advance by a thread. Further tests: labels,
// and files that are refused.
#include "training_run.hpp"

#include "io/dataset/file_dataset.hpp"
#include "sys/options/options.hpp"
#include "sys/traps.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>

namespace tenon {
namespace {

using test::SharedFolder;
using test::world;

constexpr Index kVolumes = 7, kChannels = 2, kDepth = 3, kRows = 4, kColumns = 5;
const Shape kVolumeShape{kVolumes, kChannels, kDepth, kRows, kColumns};

// Element `within` of sample n, in any dataset of the file.
double volumeValue(Index n, Index within) {
  return static_cast<double>(n * 1000 + within);
}

// Writes a dataset [samples, ...] with these values, stored as a type, and compressed if it is
// chunked.
void writeDataset(hid_t file, const char* name, const Shape& shape, hid_t stored, bool isChunked) {
  const std::vector<hsize_t> extents(shape.begin(), shape.end());
  std::vector<hsize_t> chunk = extents;
  for (hsize_t& side : chunk)
    side = (side + 1) / 2;
  const Index within = elements(Shape(shape.begin() + 1, shape.end()));
  std::vector<double> values;
  for (Index i = 0; i < elements(shape); ++i)
    values.push_back(volumeValue(i / within, i % within));
  const hid_t space = H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr),
              creation = H5Pcreate(H5P_DATASET_CREATE);
  if (isChunked) {
    H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data());
    H5Pset_deflate(creation, 6);
  }
  const hid_t set = H5Dcreate2(file, name, stored, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  H5Dclose(set);
  H5Pclose(creation);
  H5Sclose(space);
}

// Fixture: rank 0 writes the file volumes.h5. Its datasets, with kVolumes samples each:
//
//   float32, float64, bigendian   volumes, contiguous
//   packed, integers              volumes, compressed
//   targets, classes, bytes       labels: 3 numbers or one integer per sample
//   few, words                    invalid: one sample too few, texts
class VolumeFile : public ::testing::Test {
protected:
  VolumeFile() : folder_("volumes"), path_(folder_ / "volumes.h5") {
    if (world()->rank() == 0)
      write();
    MPI_Barrier(MPI_COMM_WORLD);
  }

  void write() const {
    const hid_t file = H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    writeDataset(file, "float32", kVolumeShape, H5T_IEEE_F32LE, /*isChunked=*/false);
    writeDataset(file, "float64", kVolumeShape, H5T_IEEE_F64LE, /*isChunked=*/false);
    writeDataset(file, "packed", kVolumeShape, H5T_IEEE_F32LE, /*isChunked=*/true);
    writeDataset(file, "bigendian", kVolumeShape, H5T_IEEE_F64BE, /*isChunked=*/false);
    writeDataset(file, "integers", kVolumeShape, H5T_STD_I32LE, /*isChunked=*/true);
    writeDataset(file, "targets", {kVolumes, 3}, H5T_IEEE_F32LE, /*isChunked=*/false);
    writeDataset(file, "classes", {kVolumes}, H5T_STD_I64LE, /*isChunked=*/false);
    writeDataset(file, "bytes", {kVolumes}, H5T_STD_U16BE, /*isChunked=*/true);
    writeDataset(file, "few", {kVolumes - 1}, H5T_STD_I32LE, /*isChunked=*/false);
    const hid_t text = H5Tcopy(H5T_C_S1),
                space = H5Screate_simple(1, std::array<hsize_t, 1>{7}.data(), nullptr);
    H5Dclose(H5Dcreate2(file, "words", text, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(space);
    H5Tclose(text);
    H5Fclose(file);
  }

  // A layout on a grid of 2 x 2 ranks if there are 4, otherwise of all ranks in one line;
  // `properties` has one entry per axis of the grid.
  static Layout layout(Shape shape, const char* properties) {
    const int ranks = world()->size();
    const GridPtr grid = ranks == 4 ? Grid::make({2, 2}) : Grid::make({ranks, 1});
    return Layout(
        {.shape = std::move(shape), .grid = grid, .properties = parseProperties(properties)});
  }

  SharedFolder folder_;
  std::string path_;
};

// Expects scale * value + shift for each element of a batch in this rank's box; `numbers` are the
// samples of the batch.
void expectVolumes(const DTensor& x, const std::vector<Index>& numbers, double scale, double shift,
                   const std::string& what) {
  const Shape strides = rowMajorStrides(kVolumeShape), extent = x.extent();
  visitFloating(x.dataType(), [&]<class T>(T) {
    const HostView<const T> view(x);
    const Shape within = rowMajorStrides(extent);
    for (Index i = 0; i < x.localElements(); ++i) {
      Index inSample = 0, local = 0, n = 0; // positions in the sample and in memory; sample
      for (std::size_t d = 0; d < extent.size(); ++d) {
        const Index index = i / within[d] % extent[d]; // in dimension d of this rank's box
        (d == 0 ? n : inSample) +=
            d == 0 ? x.box()[0].begin + index : (x.box()[d].begin + index) * strides[d];
        local += index * x.strides()[d];
      }
      ASSERT_EQ(view[local], static_cast<T>(scale * volumeValue(numbers[n], inSample) + shift))
          << what;
    }
  });
}

// The samples are shuffled, so the labels (1000 n) tell which samples a batch has. Epoch 0 is read
// twice.
TEST_F(VolumeFile, EveryRankGetsItsBoxOfEachSampleOnceInAnEpoch) {
  const std::vector<const char*> sets{"float32", "float64", "packed", "bigendian", "integers"},
      distributions{"S0,S4", "S3,S2", "B,S4", "R,S1"};
  for (std::size_t i = 0; i < sets.size(); ++i)
    for (std::size_t j = 0; j < distributions.size(); ++j)
      for (const bool isPrefetching : {false, true}) {
        if (world()->size() > 1 && i % distributions.size() != j)
          continue; // fewer pairs on several ranks, where each takes longer
        const char *set = sets[i], *properties = distributions[j];
        const std::string what = std::string(properties) + " " + set;
        FileDataset data(world(), path_, set, "classes");
        options().set("-tenon_dataset_prefetch", isPrefetching ? "true" : "false");
        data.setFromOptions();
        data.set("shuffle", true);
        data.set("shuffle_seed", Index(5));
        data.set("sample_scale", 2.0);
        data.set("sample_shift", 0.5);
        const Layout xLayout = layout({3, kChannels, kDepth, kRows, kColumns}, properties),
                     labelLayout = layout({3}, "B,B");
        data.setUp(xLayout, &labelLayout);
        ASSERT_EQ(data.batches(), 2);
        DTensor x(world(), xLayout, TENON_FLOAT64), labels(world(), labelLayout, TENON_INT64);
        for (const Index epoch : {0, 1, 0}) {
          std::set<Index> seen;
          for (const Index batch : {0, 1}) {
            data.getBatch(epoch, batch, x, &labels);
            const HostView<const std::int64_t> label(labels);
            std::vector<Index> numbers;
            for (Index n = 0; n < 3; ++n) {
              ASSERT_EQ(label[n] % 1000, 0);
              numbers.push_back(label[n] / 1000);
              seen.insert(numbers.back());
            }
            expectVolumes(x, numbers, 2, 0.5, what);
          }
          EXPECT_EQ(seen.size(), 6u) << what;
        }
      }
  options().set("-tenon_dataset_prefetch", "false");
}

TEST_F(VolumeFile, LabelsCanBeFieldsOrMissing) {
  const Layout xLayout = layout({2, kChannels, kDepth, kRows, kColumns}, "S2,B"),
               targetLayout = layout({2, 3}, "S1,B"), classLayout = layout({2}, "S0,B");
  DTensor x(world(), xLayout, TENON_FLOAT32), target(world(), targetLayout, TENON_FLOAT32),
      classes(world(), classLayout, TENON_INT64);
  FileDataset fields(world(), path_, "float32", "targets");
  fields.setUp(xLayout, &targetLayout);
  fields.getBatch(0, 1, x, &target); // samples 2 and 3, in the file's order
  expectVolumes(x, {2, 3}, 1, 0, "with targets");
  const HostView<const float> view(target);
  for (Index n = 0; n < 2; ++n)
    for (Index i = 0; i < target.extent()[1]; ++i)
      EXPECT_EQ(view[n * target.strides()[0] + i * target.strides()[1]],
                volumeValue(2 + n, target.box()[1].begin + i));
  FileDataset bytes(world(), path_, "float32", "bytes");
  bytes.setUp(xLayout, &classLayout);
  bytes.getBatch(0, 0, x, &classes);
  const HostView<const std::int64_t> label(classes);
  for (Index n = 0; n < classes.localElements(); ++n)
    EXPECT_EQ(label[n], (classes.box()[0].begin + n) * 1000);
  DTensor narrow(world(), classLayout, TENON_INT32);
  bytes.getBatch(0, 0, x, &narrow);
  const HostView<const std::int32_t> narrowLabel(narrow);
  for (Index n = 0; n < narrow.localElements(); ++n)
    EXPECT_EQ(narrowLabel[n], (narrow.box()[0].begin + n) * 1000);
  FileDataset alone(world(), path_, "float32", "");
  alone.setUp(xLayout, nullptr);
  alone.getBatch(0, 2, x, nullptr);
  expectVolumes(x, {4, 5}, 1, 0, "alone");
  EXPECT_EQ(alone.shape(), kVolumeShape);
}

template <class Call>
void expectError(TenonErrorCode code, const std::vector<std::string>& words, Call call) {
  try {
    call();
    ADD_FAILURE() << "no error of " << words.front();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.text();
    for (const std::string& word : words)
      EXPECT_NE(error.text().find(word), std::string::npos) << error.text();
  }
}

void writeAttribute(hid_t set, const char* name, double value) {
  const hid_t space = H5Screate(H5S_SCALAR),
              attribute = H5Acreate2(set, name, H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(attribute, H5T_NATIVE_DOUBLE, &value);
  H5Aclose(attribute);
  H5Sclose(space);
}

// By the conventions of NetCDF, attributes say that the numbers in the file are packed
// (scale_factor, add_offset) or that a number means a missing value, in a file of HDF5 too.
TEST_F(VolumeFile, AttributesAreAppliedToStoredNumbers) {
  const NoTraps noTraps; // NaN, a mark of missing values, is compared
  struct Case {
    const char *attribute, *set;
    double value;
    double first, second, missing; // the first two elements of sample 3, and the missing one's mask
  };
  const Case cases[] = {{"scale_factor", "float32", 0.5, 1500, 1500.5, 1},
                        {"scale_factor", "float64", 1, 3000, 3001, 1},
                        {"add_offset", "integers", 273.25, 3273.25, 3274.25, 1},
                        {"_FillValue", "packed", 3000, -1, 3001, 0},
                        {"missing_value", "bigendian", 3000, -1, 3001, 0},
                        {"valid_min", "short", 3001, -1, 3001, 0}};
  const std::string path = folder_ / "attributes.h5";
  if (world()->rank() == 0) {
    std::filesystem::copy_file(path_, path);
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    writeDataset(file, "short", kVolumeShape, H5T_STD_I16LE, /*isChunked=*/false);
    for (const Case& one : cases) {
      const hid_t set = H5Dopen2(file, one.set, H5P_DEFAULT);
      writeAttribute(set, one.attribute, one.value);
      H5Dclose(set);
    }
    H5Fclose(file);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const Layout whole = layout(kVolumeShape, "B,B");
  DTensor x(world(), whole, TENON_FLOAT64), mask(world(), whole, TENON_FLOAT64);
  const Index first = 3 * kChannels * kDepth * kRows * kColumns;
  for (const Case& one : cases) {
    FileDataset data(world(), path, one.set, "");
    data.setUp(whole, nullptr);
    if (one.missing == 0)
      expectError(TENON_ERR_FORMAT, {path, one.set, "no value", "fill_missing"},
                  [&] { data.getBatch(0, 0, x, nullptr); });
    data.setText("fill_missing", "-1");
    data.getBatch(0, 0, x, nullptr);
    data.getMasks(0, 0, &mask, nullptr);
    const HostView<const double> view(x), present(mask);
    EXPECT_EQ(view[first], one.first) << one.attribute;
    EXPECT_EQ(view[first + 1], one.second) << one.attribute;
    EXPECT_EQ(present[first], one.missing) << one.attribute;
    EXPECT_EQ(present[first + 1], 1) << one.attribute;
  }
}

// HDF5 itself crashes if a type in a damaged file has more bits than its conversions support.
// Unsigned labels of 64 bits: those that int64 holds are read, a mark of missing ones counts as
// such, and others are an error, where HDF5 would give the largest int64.
TEST_F(VolumeFile, UnsignedLabelsOf64BitsAreReadOrRefused) {
  const std::string path = folder_ / "unsigned.h5";
  constexpr std::uint64_t kEnd = std::uint64_t(1) << 63;
  if (world()->rank() == 0) {
    std::filesystem::copy_file(path_, path);
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    const hsize_t count = kVolumes;
    const hid_t space = H5Screate_simple(1, &count, nullptr);
    for (const char* name : {"plain", "filled"}) {
      std::vector<std::uint64_t> labels(kVolumes, 7);
      labels[1] = kEnd - 1;
      labels[3] = std::numeric_limits<std::uint64_t>::max();
      const hid_t set =
          H5Dcreate2(file, name, H5T_STD_U64BE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
      H5Dwrite(set, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, labels.data());
      if (name == std::string("filled"))
        writeAttribute(set, "_FillValue", 0x1p64);
      H5Dclose(set);
    }
    H5Sclose(space);
    H5Fclose(file);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const Layout xLayout = layout({2, kChannels, kDepth, kRows, kColumns}, "S2,B"),
               classLayout = layout({2}, "B,B");
  DTensor x(world(), xLayout, TENON_FLOAT32), classes(world(), classLayout, TENON_INT64);
  for (const char* name : {"plain", "filled"}) {
    FileDataset data(world(), path, "float32", name);
    data.setText("fill_missing", "-100");
    data.setUp(xLayout, &classLayout);
    data.getBatch(0, 0, x, &classes);
    {
      const HostView<const std::int64_t> label(classes);
      EXPECT_EQ(label[0], 7);
      EXPECT_EQ(label[1], std::int64_t(kEnd - 1));
    }
    DTensor narrow(world(), classLayout, TENON_INT32);
    expectError(TENON_ERR_FORMAT, {"the label at [1] is 9223372036854775807", "int32"},
                [&] { data.getBatch(0, 0, x, &narrow); });
    if (name == std::string("plain")) {
      expectError(TENON_ERR_FORMAT, {"unsigned number", "does not fit into int64"},
                  [&] { data.getBatch(0, 1, x, &classes); });
    } else {
      data.getBatch(0, 1, x, &classes);
      const HostView<const std::int64_t> label(classes);
      EXPECT_EQ(label[0], 7);
      EXPECT_EQ(label[1], -100);
    }
  }
}

TEST_F(VolumeFile, OnlyNumbersOfUsualSizesAreRead) {
  const std::string path = folder_ / "types.h5";
  if (world()->rank() == 0) {
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t huge = H5Tcopy(H5T_IEEE_F64LE), wide = H5Tcopy(H5T_STD_I64LE);
    H5Tset_size(huge, 4000);
    H5Tset_precision(huge, 32000);
    H5Tset_size(wide, 24);
    H5Tset_precision(wide, 192); // recent versions of HDF5 write no type of mostly unused bits
    const hsize_t count = 7;
    const hid_t space = H5Screate_simple(1, &count, nullptr);
    for (const auto& [name, type] :
         {std::pair("huge", huge), {"wide", wide}, {"long", hid_t(H5T_NATIVE_LDOUBLE)}})
      EXPECT_GE(
          H5Dclose(H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)), 0);
    H5Sclose(space);
    H5Tclose(huge);
    H5Tclose(wide);
    H5Fclose(file);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  expectError(TENON_ERR_FORMAT, {path, "'huge'", "4000 bytes", "at most 16"},
              [&] { FileDataset(world(), path, "huge", ""); });
  expectError(TENON_ERR_FORMAT, {path, "'wide'", "24 bytes", "at most 8"},
              [&] { FileDataset(world(), path, "wide", ""); });
  EXPECT_EQ(FileDataset(world(), path, "long", "").shape(), Shape{7});
}

TEST_F(VolumeFile, OtherFormatsAreNamed) {
  const std::string classic = folder_ / "classic.nc", pointer = folder_ / "pointer.h5";
  if (world()->rank() == 0) {
    std::ofstream(classic, std::ios::binary) << std::string("CDF\x01", 4) << std::string(40, '\0');
    std::ofstream(pointer, std::ios::binary) << "version https://git-lfs.github.com/spec/v1\n";
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const char* reason = hasNetcdf() ? "no variable 'x'" : "-DTENON_NETCDF=ON";
  expectError(hasNetcdf() ? TENON_ERR_FORMAT : TENON_ERR_SUPPORT, {classic, reason},
              [&] { FileDataset(world(), classic, "x", ""); });
  expectError(TENON_ERR_FORMAT, {pointer, "git lfs pull"},
              [&] { FileDataset(world(), pointer, "x", ""); });
}

TEST_F(VolumeFile, ErrorsNameFileAndDatasetAndReason) {
  const auto open = [&](const char* samples, const char* labels) {
    return [=, this] { FileDataset(world(), path_, samples, labels); };
  };
  expectError(TENON_ERR_FILE, {"nowhere.h5", "No such file"},
              [&] { FileDataset(world(), folder_ / "nowhere.h5", "float32", ""); });
  expectError(TENON_ERR_FORMAT, {path_, "'nothing'"}, open("nothing", ""));
  expectError(TENON_ERR_FORMAT, {path_, "'words'", "no numbers"}, open("words", ""));
  expectError(TENON_ERR_FORMAT, {path_, "'float32' has 7 samples", "'few' has 6 labels"},
              open("float32", "few"));
  FileDataset data(world(), path_, "float32", "classes"), alone(world(), path_, "float32", "");
  const Layout x = layout({2, kChannels, kDepth, kRows, kColumns}, "S0,B"),
               other = layout({2, 3}, "S0,B"), labels = layout({2}, "B,B");
  expectError(TENON_ERR_SHAPE, {"[2,3]", "[batch,2,3,4,5]"}, [&] { data.setUp(other, &labels); });
  expectError(TENON_ERR_SHAPE, {"[2,3]", "[2]"}, [&] { data.setUp(x, &other); });
  expectError(TENON_ERR_ARG, {"has no labels"}, [&] { alone.setUp(x, &labels); });
  data.setUp(x, nullptr);
  DTensor tensor(world(), x, TENON_FLOAT32), label(world(), labels, TENON_INT64);
  expectError(TENON_ERR_STATE, {"without labels"}, [&] { data.getBatch(0, 0, tensor, &label); });
}

TEST_F(VolumeFile, DamagedFilesAreErrors) {
  const std::string broken = folder_ / "broken.h5";
  if (world()->rank() == 0)
    std::ofstream(broken) << "no HDF5";
  MPI_Barrier(MPI_COMM_WORLD);
  expectError(TENON_ERR_FORMAT, {broken}, [&] { FileDataset(world(), broken, "float32", ""); });
  // A file that becomes shorter while a thread reads ahead.
  const Layout layoutOfX = layout({7, kChannels, kDepth, kRows, kColumns}, "B,B");
  FileDataset data(world(), path_, "float64", "");
  options().set("-tenon_dataset_prefetch", "true");
  data.setFromOptions();
  options().set("-tenon_dataset_prefetch", "false");
  data.setUp(layoutOfX, nullptr);
  MPI_Barrier(MPI_COMM_WORLD);
  if (world()->rank() == 0)
    std::filesystem::resize_file(path_, 4096);
  MPI_Barrier(MPI_COMM_WORLD);
  DTensor x(world(), layoutOfX, TENON_FLOAT64);
  const auto read = [&] {
    data.getBatch(0, 0, x, nullptr);
    data.getBatch(1, 0, x, nullptr);
  };
  EXPECT_THROW(read(), Error);
}

} // namespace
} // namespace tenon
