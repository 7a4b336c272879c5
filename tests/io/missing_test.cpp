// SPDX-License-Identifier: BSD-2-Clause
// In a build without HDF5, the calls that create checkpoints, series of fields and datasets must
// return TENON_ERR_SUPPORT, with a message that names the CMake option -DTENON_HDF5=ON.
#include <tenon.h>

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace {

class WithoutHdf5 : public testing::Test {
protected:
  void SetUp() override { TenonPushErrorHandler(TenonReturnErrorHandler, nullptr); }
  void TearDown() override { TenonPopErrorHandler(); }

  static void expectRefused(TenonErrorCode code) {
    EXPECT_EQ(code, TENON_ERR_SUPPORT);
    char message[512] = "";
    TenonGetLastError(nullptr, message, sizeof message, nullptr);
    EXPECT_NE(std::string(message).find("-DTENON_HDF5=ON"), std::string::npos) << message;
  }
};

TEST_F(WithoutHdf5, CheckpointsAreRefused) {
  TenonCheckpoint checkpoint = nullptr;
  expectRefused(TenonCheckpointCreate(MPI_COMM_WORLD, &checkpoint));
  EXPECT_EQ(checkpoint, nullptr);
  expectRefused(TenonCheckpointGetContents("run.h5", TENON_TRUE, nullptr, 0, nullptr));
}

TEST_F(WithoutHdf5, SeriesOfFieldsAreRefused) {
  TenonFieldSeries series = nullptr;
  expectRefused(TenonFieldSeriesCreate(MPI_COMM_WORLD, "heat", 2, &series));
  EXPECT_EQ(series, nullptr);
}

TEST_F(WithoutHdf5, DatasetsFromItAreRefused) {
  const std::string path = testing::TempDir() + "tenon_flow.h5";
  std::ofstream(path, std::ios::binary) << "\x89HDF\r\n\x1a\n";
  MPI_Barrier(MPI_COMM_WORLD);
  TenonDataset dataset = nullptr;
  const TenonErrorCode code =
      TenonDatasetCreateHDF5(MPI_COMM_WORLD, path.c_str(), "/fields", "/targets", &dataset);
#if TENON_TEST_HAS_NETCDF // whose library reads NetCDF-4 without that of Tenon
  EXPECT_EQ(code, TENON_ERR_FORMAT);
#else
  expectRefused(code);
#endif
  MPI_Barrier(MPI_COMM_WORLD);
  std::remove(path.c_str());
  EXPECT_EQ(dataset, nullptr);
}

} // namespace
