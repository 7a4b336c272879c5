// SPDX-License-Identifier: BSD-2-Clause
// Without HDF5 there are no checkpoints, and the error says how to get them.
#include <tenon.h>

#include <gtest/gtest.h>

#include <string>

namespace {

TEST(CheckpointWithoutHdf5, IsRefused) {
  TenonPushErrorHandler(TenonReturnErrorHandler, nullptr);
  TenonCheckpoint checkpoint = nullptr;
  EXPECT_EQ(TenonCheckpointCreate(MPI_COMM_WORLD, &checkpoint), TENON_ERR_SUPPORT);
  char message[512] = "";
  TenonGetLastError(nullptr, message, sizeof message, nullptr);
  EXPECT_NE(std::string(message).find("-DTENON_HDF5=ON"), std::string::npos) << message;
  EXPECT_EQ(checkpoint, nullptr);
  EXPECT_EQ(TenonCheckpointViewFile("run.h5"), TENON_ERR_SUPPORT);
  TenonPopErrorHandler();
}

} // namespace
