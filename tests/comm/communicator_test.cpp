// SPDX-License-Identifier: BSD-2-Clause
#include "comm/communicator.hpp"
#include "support/world.hpp"
#include "sys/expect_error.hpp"
#include "sys/options.hpp"

#include <gtest/gtest.h>

namespace tenon {
namespace {

using test::world;

TEST(Communicator, IsACopyMadeOncePerParent) {
  const CommPtr first = Communicator::of(MPI_COMM_WORLD);
  EXPECT_EQ(first, Communicator::of(MPI_COMM_WORLD));
  int relation = MPI_IDENT;
  MPI_Comm_compare(first->mpi(), MPI_COMM_WORLD, &relation);
  EXPECT_EQ(relation, MPI_CONGRUENT); // the same ranks, another context
}

TEST(Communicator, SurvivesItsParentAndIsNotTakenForAnothers) {
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &parent);
  const CommPtr copy = Communicator::of(parent);
  MPI_Comm_free(&parent);
  int sum = 1;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, copy->mpi());
  EXPECT_EQ(sum, world()->size());
  MPI_Comm next = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &next); // may get the freed one's address
  EXPECT_NE(Communicator::of(next), copy);
  MPI_Comm_free(&next);
}

TEST(Communicator, ADuplicateOfTheParentIsAnotherParent) {
  MPI_Comm twin = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  EXPECT_NE(Communicator::of(twin), world());
  MPI_Comm_free(&twin);
}

TEST(Communicator, RefusesNull) {
  expectError(TENON_ERR_NULL, {"MPI_COMM_NULL"}, [] { Communicator::of(MPI_COMM_NULL); });
}

TEST(Communicator, RefusesAnIntercommunicator) {
  if (world()->size() == 1)
    GTEST_SKIP() << "needs two groups";
  const int side = world()->rank() % 2;
  MPI_Comm half = MPI_COMM_NULL, inter = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 0, &inter);
  expectError(TENON_ERR_ARG, {"comm is an intercommunicator"}, [&] { Communicator::of(inter); });
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

// The first use has nothing yet to agree with.
TEST(Communicator, MissesRanksAtItsFirstUse) {
  if (world()->size() == 1)
    GTEST_SKIP() << "nobody can be absent";
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &parent);
  options().set("-tenon_agree_timeout", "0.3");
  const bool isLate = world()->rank() == world()->size() - 1;
  MPI_Barrier(MPI_COMM_WORLD);
  if (isLate)
    MPI_Barrier(MPI_COMM_WORLD);
  expectError(TENON_ERR_TIMEOUT, {"had not arrived at the first collective call", "agree_timeout"},
              [&] { Communicator::of(parent); });
  if (!isLate)
    MPI_Barrier(MPI_COMM_WORLD);
  expectError(TENON_ERR_STATE, {"cannot be used any more"}, [&] { Communicator::of(parent); });
  options().set("-tenon_agree_timeout", "300");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_free(&parent);
}

TEST(Communicator, SplitsOncePerName) {
  const int color = world()->rank() % 2;
  const MPI_Comm half = world()->split({-7}, color, -world()->rank());
  EXPECT_EQ(half, world()->split({-7}, color, -world()->rank()));
  int rank = -1, size = 0;
  MPI_Comm_rank(half, &rank);
  MPI_Comm_size(half, &size);
  EXPECT_EQ(size, (world()->size() + 1 - color) / 2);
  EXPECT_EQ(rank, size - 1 - world()->rank() / 2); // ordered by the key, which falls
}

TEST(Communicator, TagsStayWithinTheStandardsBound) {
  const int start = world()->lastTag();
  world()->setLastTag(Communicator::kLastObjectTag - 1);
  EXPECT_EQ(world()->nextTag(), Communicator::kLastObjectTag);
  EXPECT_EQ(world()->nextTag(), 1);
  world()->setLastTag(start);
}

} // namespace
} // namespace tenon
