// SPDX-License-Identifier: BSD-2-Clause
#include "comm/agreement/agreement.hpp"
#include "support/world.hpp"
#include "train/idx_dataset.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>

namespace tenon {
namespace {

using test::world;
namespace fs = std::filesystem;

constexpr int kSamples = 10, kRows = 3, kColumns = 4;

int pixel(Index n, Index r, Index c) {
  return static_cast<int>(20 * n + 5 * r + c);
}

// Rank 0 writes the files into a folder that all ranks know.
class IdxImages : public testing::Test {
protected:
  void SetUp() override {
    char name[64] = "";
    if (world()->rank() == 0)
      std::snprintf(name, sizeof name, "dataset-test-%d", static_cast<int>(::getpid()));
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    folder_ = fs::temp_directory_path() / name;
    if (world()->rank() == 0) {
      fs::create_directories(folder_);
      write("images", {0, 0, 8, 3, 0, 0, 0, kSamples, 0, 0, 0, kRows, 0, 0, 0, kColumns},
            imageBytes());
      write("labels", {0, 0, 8, 1, 0, 0, 0, kSamples}, labelBytes(kSamples));
      write("few", {0, 0, 8, 1, 0, 0, 0, 3}, labelBytes(3));
      write("short", {0, 0, 8, 3, 0, 0, 0, kSamples, 0, 0, 0, kRows, 0, 0, 0, kColumns}, {1, 2, 3});
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  void TearDown() override {
    MPI_Barrier(MPI_COMM_WORLD);
    if (world()->rank() == 0)
      fs::remove_all(folder_);
  }

  std::string path(const char* name) const { return (folder_ / name).string(); }
  void write(const char* name, std::vector<unsigned char> head,
             const std::vector<unsigned char>& data) const {
    head.insert(head.end(), data.begin(), data.end());
    std::ofstream(folder_ / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(head.data()),
               static_cast<std::streamsize>(head.size()));
  }
  static std::vector<unsigned char> imageBytes() {
    std::vector<unsigned char> bytes;
    for (int n = 0; n < kSamples; ++n)
      for (int r = 0; r < kRows; ++r)
        for (int c = 0; c < kColumns; ++c)
          bytes.push_back(static_cast<unsigned char>(pixel(n, r, c)));
    return bytes;
  }
  static std::vector<unsigned char> labelBytes(int n) {
    std::vector<unsigned char> bytes;
    for (int i = 0; i < n; ++i)
      bytes.push_back(static_cast<unsigned char>(i));
    return bytes;
  }

  fs::path folder_;
};

void setUp(Dataset& data, const Layout& x, const Layout& labels) {
  data.setUp(x, &labels);
}

TenonErrorCode codeOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return TENON_SUCCESS;
}

TEST_F(IdxImages, ServesEachSampleOnceAndEveryRankItsPart) {
  const GridPtr grid = Grid::make({world()->size()});
  const Layout columns(
      {.shape = {5, 1, kRows, kColumns}, .grid = grid, .properties = parseProperties("S3")});
  const Layout labels({.shape = {5}, .grid = grid, .properties = parseProperties("B")});
  IdxDataset data(world(), path("images"), path("labels"));
  data.set("shuffle", true);
  data.set("shuffle_seed", Index(42));
  data.set("sample_scale", 255.0);
  data.set("sample_shift", 1.0);
  setUp(data, columns, labels);
  ASSERT_EQ(data.batches(), 2);
  DTensor x(world(), columns, TENON_FLOAT64), label(world(), labels, TENON_INT64);
  for (Index epoch : {0, 1}) {
    std::set<Index> seen;
    for (Index batch = 0; batch < 2; ++batch) {
      data.getBatch(epoch, batch, x, &label);
      const double* at = x.data<double>();
      for (Index n = 0; n < 5; ++n) {
        const Index sample = label.data<std::int64_t>()[n];
        seen.insert(sample);
        for (Index r = 0; r < kRows; ++r)
          for (Index c = 0; c < x.extent()[3]; ++c)
            ASSERT_EQ(*at++, pixel(sample, r, x.box()[3].begin + c) + 1);
      }
    }
    EXPECT_EQ(seen.size(), 10u);
  }
}

TEST_F(IdxImages, OrderDependsOnSeedAndEpochAlone) {
  const GridPtr grid = Grid::make({world()->size()});
  const Layout split(
      {.shape = {10, 1, kRows, kColumns}, .grid = grid, .properties = parseProperties("S0")});
  const Layout labels({.shape = {10}, .grid = grid, .properties = parseProperties("B")});
  auto order = [&](Index seed, Index epoch) {
    IdxDataset data(world(), path("images"), path("labels"));
    data.set("shuffle", true);
    data.set("shuffle_seed", seed);
    setUp(data, split, labels);
    DTensor x(world(), split, TENON_FLOAT32), label(world(), labels, TENON_INT64);
    data.getBatch(epoch, 0, x, &label);
    return std::vector<std::int64_t>(label.data<std::int64_t>(), label.data<std::int64_t>() + 10);
  };
  EXPECT_EQ(order(1, 0), order(1, 0));
  EXPECT_NE(order(1, 0), order(1, 1));
  EXPECT_NE(order(1, 0), order(2, 0));
}

TEST_F(IdxImages, BadFilesFailOnAllRanksAlike) {
  EXPECT_EQ(codeOf([&] { IdxDataset(world(), path("nowhere"), path("labels")); }), TENON_ERR_FILE);
  EXPECT_EQ(codeOf([&] { IdxDataset(world(), path("short"), path("labels")); }), TENON_ERR_FORMAT);
  EXPECT_EQ(codeOf([&] { IdxDataset(world(), path("labels"), path("labels")); }), TENON_ERR_FORMAT);
  EXPECT_EQ(codeOf([&] { IdxDataset(world(), path("images"), path("few")); }), TENON_ERR_FORMAT);
}

TEST_F(IdxImages, AFileMissingOnOneRankFailsOnAll) {
  const bool last = world()->rank() == world()->size() - 1;
  try {
    IdxDataset(world(), path(last ? "nowhere" : "images"), path("labels"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), TENON_ERR_FILE);
    EXPECT_NE(error.text().find("nowhere"), std::string::npos);
  }
}

TEST_F(IdxImages, RefusesLayoutsThatDoNotFit) {
  const GridPtr grid = Grid::make({world()->size()});
  auto layout = [&](Shape shape, const char* text) {
    return Layout({.shape = std::move(shape), .grid = grid, .properties = parseProperties(text)});
  };
  IdxDataset data(world(), path("images"), path("labels"));
  EXPECT_EQ(codeOf([&] { data.batches(); }), TENON_ERR_STATE);
  EXPECT_EQ(codeOf([&] {
              setUp(data, layout({5, 1, 3, 3}, "S0"), layout({5}, "B"));
            }),
            TENON_ERR_SHAPE);
  EXPECT_EQ(codeOf([&] {
              setUp(data, layout({5, 1, 3, 4}, "S0"), layout({4}, "B"));
            }),
            TENON_ERR_SHAPE);
  EXPECT_EQ(codeOf([&] {
              setUp(data, layout({11, 1, 3, 4}, "S0"), layout({11}, "B"));
            }),
            TENON_ERR_SHAPE);
  if (world()->size() > 1) { // the contributions of one process are the sum
    EXPECT_EQ(codeOf([&] {
                setUp(data, layout({5, 1, 3, 4}, "P"), layout({5}, "B"));
              }),
              TENON_ERR_LAYOUT);
  }
  setUp(data, layout({5, 1, 3, 4}, "S0"), layout({5}, "B"));
  DTensor x(world(), layout({5, 1, 3, 4}, "S0"), TENON_FLOAT32),
      label(world(), layout({5}, "B"), TENON_INT64);
  EXPECT_EQ(codeOf([&] { data.getBatch(-1, 0, x, &label); }), TENON_ERR_ARG);
  EXPECT_EQ(codeOf([&] { data.getBatch(0, 2, x, &label); }), TENON_ERR_ARG);
  EXPECT_EQ(codeOf([&] { data.getBatch(0, -1, x, &label); }), TENON_ERR_ARG);
}

} // namespace
} // namespace tenon
