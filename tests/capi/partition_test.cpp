// SPDX-License-Identifier: BSD-2-Clause
// Partitions in the C API: process grids of one or more axes, with the coordinates of each rank and
// the communicators of the axes; and memory of the program that the ranks of one node share.
// Coordinates are computed by hand from rank and size. Wrong arguments, also on the last rank only
// (isLast()), must give all ranks the same error.
#include "capi/expect_code.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tenon::test {
namespace {

TEST_F(CApi, PartitionKnowsItsGridAndThisRanksPlace) {
  const int n = worldSize();
  std::vector<int> falling(n);
  for (int i = 0; i < n; ++i)
    falling[i] = n - 1 - i;
  const int extents[2] = {n, 1};
  TenonPartition created = nullptr;
  expectSuccess(
      TenonPartitionCreateFromRanks(MPI_COMM_WORLD, 2, extents, falling.data(), &created));
  int axes = 0, found[2] = {}, coordinates[2] = {-2, -2};
  expectSuccess(TenonPartitionGetAxes(created, &axes));
  expectSuccess(TenonPartitionGetExtents(created, found));
  expectSuccess(TenonPartitionGetCoordinates(created, coordinates));
  EXPECT_EQ(axes, 2);
  EXPECT_EQ(found[0], n);
  EXPECT_EQ(found[1], 1);
  EXPECT_EQ(coordinates[0], n - 1 - worldRank());
  EXPECT_EQ(coordinates[1], 0);
  expectSuccess(TenonPartitionDestroy(&created));
}

// matrix[axis][level]: axis 0 is divided into 2 parts on the outer level and n/4 on the inner one,
// axis 1 into 1 and 2. Ranks count through the outer level first, so rank = outer (n/2) + inner,
// and each level counts axis 0 slower than axis 1.
TEST_F(CApi, APlacedGridHasItsRanksLevelByLevel) {
  const int n = worldSize();
  if (n % 4 != 0)
    GTEST_SKIP() << "two levels of two axes";
  const TenonInt matrix[4] = {2, n / 4, 1, 2};
  TenonPartition created = nullptr;
  expectSuccess(TenonPartitionCreatePlaced(MPI_COMM_WORLD, 2, 2, matrix, &created));
  int found[2] = {}, coordinates[2] = {};
  expectSuccess(TenonPartitionGetExtents(created, found));
  expectSuccess(TenonPartitionGetCoordinates(created, coordinates));
  EXPECT_EQ(found[0], n / 2);
  EXPECT_EQ(found[1], 2);
  const int outer = worldRank() / (n / 2), inner = worldRank() % (n / 2);
  EXPECT_EQ(coordinates[0], outer * (n / 4) + inner / 2);
  EXPECT_EQ(coordinates[1], inner % 2);
  expectSuccess(TenonPartitionDestroy(&created));
}

TEST_F(CApi, ABadPlacementIsTheSameErrorOnAllRanks) {
  TenonPartition created = nullptr;
  const TenonInt large[2] = {worldSize(), 2}, none[2] = {1, 0};
  expectCommonCode(TENON_ERR_ARG, TenonPartitionCreatePlaced(MPI_COMM_WORLD, 1, 2, large, &created),
                   {"does not fit"});
  expectCommonCode(TENON_ERR_ARG, TenonPartitionCreatePlaced(MPI_COMM_WORLD, 1, 2, none, &created),
                   {"size 0"});
  expectCommonCode(TENON_ERR_ARG, TenonPartitionCreatePlaced(MPI_COMM_WORLD, 1, 0, none, &created),
                   {"levels is 0"});
  expectCommonCode(TENON_ERR_NULL,
                   TenonPartitionCreatePlaced(MPI_COMM_WORLD, 1, 2, nullptr, &created),
                   {"matrix is NULL"});
  EXPECT_EQ(created, nullptr);
}

TEST_F(CApi, RanksOutsideAGridHoldItToo) {
  const int one = 1;
  TenonPartition created = nullptr;
  expectSuccess(TenonPartitionCreate(MPI_COMM_WORLD, 1, &one, &created));
  const int expected = worldRank() == 0 ? 0 : -1;
  int coordinate = -2;
  expectSuccess(TenonPartitionGetCoordinates(created, &coordinate));
  EXPECT_EQ(coordinate, expected);
  MPI_Comm line = MPI_COMM_SELF;
  expectSuccess(TenonPartitionGetAxisComm(created, 0, &line));
  EXPECT_EQ(line == MPI_COMM_NULL, worldRank() != 0);
  expectSuccess(TenonPartitionDestroy(&created));
}

TEST_F(CApi, ABadGridIsTheSameErrorOnAllRanks) {
  const int large[2] = {worldSize(), 2};
  TenonPartition created = nullptr;
  expectCommonCode(TENON_ERR_ARG, TenonPartitionCreate(MPI_COMM_WORLD, 2, large, &created),
                   {"does not fit"});
  expectCommonCode(TENON_ERR_ARG, TenonPartitionCreate(MPI_COMM_WORLD, 0, large, &created),
                   {"axes is 0"});
  expectCommonCode(TENON_ERR_NULL, TenonPartitionCreate(MPI_COMM_WORLD, 1, nullptr, &created),
                   {"extents is NULL"});
  expectCommonCode(TENON_ERR_NULL, TenonPartitionCreate(MPI_COMM_WORLD, 1, large, nullptr),
                   {"partition is NULL"});
  const int zero = 0, ranks[1] = {worldSize()};
  expectCommonCode(TENON_ERR_ARG, TenonPartitionCreate(MPI_COMM_WORLD, 1, &zero, &created), {"0"});
  const int one = 1;
  expectCommonCode(TENON_ERR_ARG,
                   TenonPartitionCreateFromRanks(MPI_COMM_WORLD, 1, &one, ranks, &created),
                   {"contains rank"});
  expectCode(TENON_ERR_NULL, TenonPartitionCreate(MPI_COMM_NULL, 1, &one, &created),
             {"MPI_COMM_NULL"});
  EXPECT_EQ(created, nullptr);
}

TEST_F(CApi, ABadGridOnOneRankFailsOnAll) {
  const int good = worldSize(), bad = -3;
  TenonPartition created = nullptr;
  expectCommonCode(TENON_ERR_ARG,
                   TenonPartitionCreate(MPI_COMM_WORLD, 1, isLast() ? &bad : &good, &created),
                   {"-3"});
  expectCommonCode(TENON_ERR_NULL,
                   TenonPartitionCreate(MPI_COMM_WORLD, 1, isLast() ? nullptr : &good, &created),
                   {"extents is NULL"});
  EXPECT_EQ(created, nullptr);
  expectSuccess(
      TenonPartitionCreate(MPI_COMM_WORLD, 1, &good, &created)); // no rank is ahead of the others
  expectSuccess(TenonPartitionDestroy(&created));
}

TEST_F(CApi, DifferentGridsAreAnError) {
  if (worldSize() == 1)
    GTEST_SKIP() << "one rank agrees with itself";
  const int extent = isLast() ? 1 : worldSize();
  TenonPartition created = nullptr;
  expectCommonCode(TENON_ERR_COLLECTIVE, TenonPartitionCreate(MPI_COMM_WORLD, 1, &extent, &created),
                   {"the process grid must be the same on all ranks"});
}

TEST_F(CApi, AnUnknownAxisIsAnErrorOnAllRanks) {
  MPI_Comm line = MPI_COMM_NULL;
  expectCommonCode(TENON_ERR_ARG, TenonPartitionGetAxisComm(all_, isLast() ? 1 : 0, &line),
                   {"axis 1", "0 to 0"});
  expectSuccess(TenonPartitionGetAxisComm(all_, 0, &line));
  int size = 0;
  MPI_Comm_size(line, &size);
  EXPECT_EQ(size, worldSize());
}

// A halo exchange within memory of the program that it has shared among the ranks of a node. Each
// rank has 4 slabs with one ghost slab on each side, in one periodic ring; slab s of the ring has
// value s, so the ghosts must get the values of the neighbours' outermost slabs. x and y use the
// same memory.
TEST_F(CApi, SharedMemoryIsReadInPlace) {
  const TenonInt slab = 3000, slabs = 4, ghost[] = {1, 0};
  TenonLayout own = layout({slabs * worldSize(), slab}, "S0"), wide = nullptr;
  expectSuccess(TenonLayoutCreateLike(own, &wide));
  expectSuccess(
      TenonLayoutSetHalo(wide, 0, 1, 1, TENON_BOUNDARY_PERIODIC, TENON_BOUNDARY_PERIODIC));
  expectSuccess(TenonLayoutSetUp(wide));
  TenonLinearOp halo = nullptr;
  expectSuccess(TenonLinearOpCreateHalo(own, wide, TENON_FLOAT64, &halo));
  std::vector<double> memory((slabs + 2) * slab);
  const double first = static_cast<double>(slabs * worldRank()), all = slabs * worldSize();
  for (TenonInt i = 0; i < slabs; ++i)
    std::fill_n(&memory[(i + 1) * slab], slab, first + static_cast<double>(i));
  expectSuccess(TenonPartitionShareMemory(all_, memory.data(), memory.size() * sizeof(double)));
  TenonDTensor x = tensor(own, TENON_FLOAT64), y = tensor(wide, TENON_FLOAT64);
  for (TenonDTensor each : {x, y})
    expectSuccess(TenonDTensorPlaceArray(each, &memory[slab], nullptr, ghost, ghost, 0));
  expectSuccess(TenonLinearOpApply(halo, x, y));
  expectSuccess(TenonPartitionUnshareMemory(all_, memory.data()));
  for (TenonInt i = 0; i < slabs + 2; ++i)
    for (TenonInt j = 0; j < slab; ++j)
      ASSERT_EQ(memory[i * slab + j], std::fmod(first + static_cast<double>(i) - 1 + all, all));
  expectSuccess(
      TenonLinearOpApply(halo, x, y)); // the memory is private again, and messages are sent
  for (TenonDTensor* each : {&x, &y})
    expectSuccess(TenonDTensorDestroy(each));
  expectSuccess(TenonLinearOpDestroy(&halo));
  for (TenonLayout* each : {&own, &wide})
    expectSuccess(TenonLayoutDestroy(each));
}

TEST_F(CApi, MemoryThatCannotBeSharedIsNamed) {
  expectSuccess(TenonPartitionShareMemory(all_, nullptr, 0));
  expectSuccess(TenonPartitionUnshareMemory(all_, nullptr));
  expectCode(TENON_ERR_NULL, TenonPartitionShareMemory(all_, nullptr, 8), {"memory is NULL"});
  expectCode(TENON_ERR_NULL, TenonPartitionShareMemory(nullptr, this, 8), {"partition is NULL"});
  std::vector<double> memory(100000, 1);
  const std::size_t bytes = memory.size() * sizeof(double);
  expectSuccess(TenonPartitionShareMemory(all_, memory.data(), bytes));
  if (worldSize() > 1) {
    expectCode(TENON_ERR_ARG, TenonPartitionShareMemory(all_, &memory[5], 8), {"already shared"});
    expectCode(TENON_ERR_ARG, TenonPartitionUnshareMemory(all_, &memory[5]),
               {"no shared memory begins"});
    expectCode(TENON_ERR_SUPPORT, TenonPartitionShareMemory(all_, __builtin_frame_address(0), 8),
               {"stack"});
  }
  expectSuccess(TenonPartitionUnshareMemory(all_, memory.data()));
  EXPECT_EQ(memory, std::vector<double>(100000, 1));
}

} // namespace
} // namespace tenon::test
