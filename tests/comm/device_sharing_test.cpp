// SPDX-License-Identifier: BSD-2-Clause
// The note about two ranks of a node that use one CUDA device while another one is used by none.
// The stand-in for CUDA has two devices, of which ranks choose one by their rank on the node. In
// the run of the second test the option -tenon_device selects device 0 on both ranks.
#include "comm/communicator.hpp"
#include "support/world.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tenon::test {
namespace {

std::string printedByOpening() {
  testing::internal::CaptureStderr();
  world()->openDeviceArena();
  return testing::internal::GetCapturedStderr();
}

TEST(RanksOfANode, EachWithADevicePrintNothing) {
  EXPECT_EQ(printedByOpening(), "");
}

TEST(RanksOfANode, BothOnOneDeviceNoteThatAnotherIsFree) {
  EXPECT_EQ(printedByOpening(),
            world()->rank() == 0
                ? ""
                : "Tenon: two of the 2 ranks on a node use CUDA device 0, and none of them uses "
                  "device 1; let the launcher bind ranks to devices, or set -tenon_device\n");
}

// Ranks 0 and 2 have device 0, and 1 and 3 have device 1: none is free, though no rank of a part
// has the other one.
TEST(RanksOfANode, OfWhichAPartKnowsHalfPrintNothing) {
  ASSERT_EQ(world()->size(), 4);
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, world()->rank() % 2, 0, &part);
  testing::internal::CaptureStderr();
  Communicator::of(part)->openDeviceArena();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  MPI_Comm_free(&part);
}

} // namespace
} // namespace tenon::test
