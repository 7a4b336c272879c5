// SPDX-License-Identifier: BSD-2-Clause
// Tests process grids with their communicators along axes, against the coordinates of the grid. All
// ranks run each test.
#include "comm/partition.hpp"

#include "support/draws.hpp"
#include "support/world.hpp"
#include "sys/expect_error.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace tenon {
namespace {

using test::world;

// A grid of two columns with the ranks in descending order. If the number of ranks is odd, rank 0
// is outside the grid.
GridPtr twoColumns() {
  const int rows = world()->size() / 2;
  std::vector<int> ranks(2 * rows);
  for (int i = 0; i < 2 * rows; ++i)
    ranks[i] = world()->size() - 1 - i;
  return Grid::make({rows, 2}, ranks);
}

TEST(Partition, RefusesRanksOutsideTheCommunicator) {
  expectError(TENON_ERR_ARG, {"contains rank"},
              [] { Partition(world(), Grid::make({1}, {world()->size()})); });
}

TEST(Partition, AxisCommunicatorsHoldTheLinesOfTheGrid) {
  if (world()->size() < 2)
    GTEST_SKIP() << "needs two ranks";
  Partition partition(world(), twoColumns());
  const int ownPosition = partition.position();
  for (int axis = 0; axis < 2; ++axis) {
    const MPI_Comm line = partition.axisComm(axis);
    EXPECT_EQ(line, partition.axisComm(axis));
    if (ownPosition < 0) {
      EXPECT_EQ(line, MPI_COMM_NULL);
      continue;
    }
    int rank = -1, size = 0;
    MPI_Comm_rank(line, &rank);
    MPI_Comm_size(line, &size);
    EXPECT_EQ(size, partition.grid().extent(axis));
    EXPECT_EQ(rank, partition.grid().coordinate(ownPosition, axis));
    // The other coordinate is the same along the line.
    const int other = partition.grid().coordinate(ownPosition, 1 - axis);
    int bounds[2] = {other, -other};
    MPI_Allreduce(MPI_IN_PLACE, bounds, 2, MPI_INT, MPI_MAX, line);
    EXPECT_EQ(bounds[0], -bounds[1]);
  }
}

TEST(Partition, EqualGridsShareTheirAxisCommunicators) {
  std::vector<int> ranks(world()->size());
  std::iota(ranks.begin(), ranks.end(), 0);
  Partition one(world(), Grid::make({world()->size()}));
  Partition two(world(), Grid::make({world()->size()}, ranks));
  EXPECT_EQ(one.axisComm(0), two.axisComm(0));
}

// MPI libraries offer a few thousand communicators at most.
TEST(Partition, ThousandsOfPartitionsDoNotExhaustCommunicators) {
  if (world()->size() != 2 && !test::drawsAll())
    GTEST_SKIP() << "two ranks show it in less time; all draws have it on each number of ranks";
  std::vector<Ref<Partition>> all;
  for (int i = 0; i < 5000; ++i) {
    all.push_back(
        makeRef<Partition>(Communicator::of(MPI_COMM_WORLD), Grid::make({world()->size(), 1})));
    all.back()->axisComm(i % 2);
  }
  MPI_Comm spare = MPI_COMM_NULL;
  EXPECT_EQ(MPI_Comm_dup(world()->mpi(), &spare), MPI_SUCCESS);
  MPI_Comm_free(&spare);
}

} // namespace
} // namespace tenon
