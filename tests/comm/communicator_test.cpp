// SPDX-License-Identifier: BSD-2-Clause
// Tests the library's duplicates of communicators: one per parent, freed with the parent or with
// the last user (open files and mappings are counted in /proc), splits by name, absent ranks at the
// first use, and tags. All ranks run each test.
#include "comm/communicator.hpp"
#include "comm/transport.hpp"
#include "support/world.hpp"
#include "sys/expect_error.hpp"
#include "sys/options/options.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace tenon {
namespace {

using test::world;

// Number of files that the process has open, and of its mappings of files in /dev/shm that the
// library made.
struct Held {
  std::ptrdiff_t files = 0, mappings = 0;
  bool operator==(const Held&) const = default;
};

Held heldNow() {
  using Folder = std::filesystem::directory_iterator;
  Held held{.files = std::distance(Folder("/proc/self/fd"), Folder())};
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    held.mappings += line.find("/dev/shm/tenon.") != std::string::npos;
  return held;
}

MPI_Comm duplicateOfWorld() {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  return made;
}

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

TEST(Communicator, GoesWithItsParentIfNobodyUsesIt) {
  Communicator::of(MPI_COMM_WORLD);
  const Held before = heldNow();
  for (int i = 0; i < 20; ++i) {
    MPI_Comm parent = duplicateOfWorld();
    CommPtr copy = Communicator::of(parent);
    const std::weak_ptr<Communicator> seen = copy;
    copy.reset();
    EXPECT_FALSE(seen.expired());
    MPI_Comm_free(&parent);
    EXPECT_TRUE(seen.expired());
  }
  EXPECT_EQ(heldNow().files, before.files);
  EXPECT_EQ(heldNow().mappings, before.mappings);
}

TEST(Communicator, GoesWithItsLastUserAfterItsParent) {
  const Held before = heldNow();
  MPI_Comm parent = duplicateOfWorld();
  CommPtr copy = Communicator::of(parent);
  {
    const Buffer array(1000, "test", copy->arena());
    MPI_Comm_free(&parent);
    MPI_Barrier(copy->mpi());
    EXPECT_NE(heldNow() == before, copy->arena() != nullptr);
  }
  copy.reset();
  EXPECT_EQ(heldNow().files, before.files);
  EXPECT_EQ(heldNow().mappings, before.mappings);
}

TEST(Communicator, KeepsOneFileOpenHoweverManyRanksShareIt) {
  const Held before = heldNow();
  MPI_Comm parent = duplicateOfWorld();
  const bool shares = Communicator::of(parent)->arena() != nullptr;
  EXPECT_EQ(heldNow().files, before.files + (shares ? 1 : 0));
  EXPECT_EQ(heldNow().mappings, before.mappings + (shares ? world()->size() : 0));
  MPI_Comm_free(&parent);
}

TEST(Communicator, IsRefusedInAThreadThatMayNotCallMpi) {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level >= MPI_THREAD_SERIALIZED)
    GTEST_SKIP() << "all threads may call MPI";
  std::thread([] {
    expectError(TENON_ERR_STATE, {"MPI_THREAD_MULTIPLE"}, [] { Communicator::of(MPI_COMM_WORLD); });
  }).join();
}

TEST(Communicator, ADuplicateOfTheParentIsAnotherParent) {
  MPI_Comm twin = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  EXPECT_NE(Communicator::of(twin), world());
  MPI_Comm_free(&twin);
}

TEST(Communicator, TheCopyItselfIsNoOtherParent) {
  const CommPtr comm = Communicator::of(MPI_COMM_WORLD);
  EXPECT_EQ(Communicator::of(comm->mpi()), comm);
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

// At the first use of a communicator its agreement does not exist yet, so the absence of a rank
// must be found in another way.
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
  expectError(TENON_ERR_STATE, {"can no longer be used"}, [&] { Communicator::of(parent); });
  options().set("-tenon_agree_timeout", "300");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_free(&parent);
}

TEST(Communicator, SplitsOncePerName) {
  const int color = world()->rank() % 2;
  const SubCommPtr part = world()->split({.use = -7}, color, -world()->rank());
  EXPECT_EQ(part, world()->split({.use = -7}, color, -world()->rank()));
  const MPI_Comm half = part->mpi();
  int rank = -1, size = 0;
  MPI_Comm_rank(half, &rank);
  MPI_Comm_size(half, &size);
  EXPECT_EQ(size, (world()->size() + 1 - color) / 2);
  EXPECT_EQ(rank, size - 1 - world()->rank() / 2); // ordered by the key, which falls
}

// MPI libraries offer a few thousand communicators at most, and one takes tens of KiB.
TEST(Communicator, KeepsTheSplitsMadeLastAndThoseInUse) {
  const int most = static_cast<int>(SubCommunicatorCache<int>::kMax);
  const CommPtr& comm = world();
  const SubCommPtr used = comm->split({.use = -8, .axes = {0}}, 0, comm->rank());
  const std::weak_ptr<const SubCommunicator> unused =
      comm->split({.use = -8, .axes = {1}}, 0, comm->rank());
  EXPECT_FALSE(unused.expired());
  for (int i = 0; i < most; ++i)
    comm->split({.use = -9, .axes = {i}}, 0, comm->rank());
  EXPECT_TRUE(unused.expired());
  int sum = 1;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, used->mpi());
  EXPECT_EQ(sum, comm->size());
  EXPECT_EQ(comm->split({.use = -9, .axes = {0}}, 0, 0),
            comm->split({.use = -9, .axes = {0}}, 0, 0));
}

TEST(Communicator, TagsStayWithinTheStandardsBound) {
  const int start = world()->lastTag();
  world()->setLastTag(Communicator::kLastObjectTag - 1);
  EXPECT_EQ(world()->nextTag(), Communicator::kLastObjectTag);
  EXPECT_EQ(world()->nextTag(), 1);
  world()->setLastTag(start);
}

TEST(Ucx, BeforeItHookedTheDriverFailsWithDeviceMemory) {
  EXPECT_EQ(whyUcxFails(1, 13, ""), "");
  EXPECT_EQ(whyUcxFails(2, 0, "y"), "");
  EXPECT_EQ(whyUcxFails(1, 10, "n"), "");
  for (const char* word : {"UCX 1.12", "before 1.13", "UCX_MEMTYPE_CACHE to n", "gpu_aware to off"})
    EXPECT_NE(whyUcxFails(1, 12, "").find(word), std::string::npos) << word;
  EXPECT_NE(whyUcxFails(0, 0, "y"), "");
}

} // namespace
} // namespace tenon
