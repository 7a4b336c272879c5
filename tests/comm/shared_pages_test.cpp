// SPDX-License-Identifier: BSD-2-Clause
// Tests SharedArena::share(): memory of the user becomes part of the arena, with the same address
// and values, other ranks can read it, and unshare() makes it private again. All ranks run each
// test.
#include "comm/memory/shared_arena.hpp"

#include "support/own_communicator.hpp"
#include "support/pages.hpp"
#include "support/world.hpp"
#include "sys/expect_error.hpp"
#include "sys/memory/own_memory.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace tenon {
namespace {

using test::communicatorWithArena;
using test::Pages;
using test::world;

const Index kPage = Pages::size();

class SharedPages : public testing::Test {
protected:
  void SetUp() override {
    if (world()->size() == 1)
      GTEST_SKIP() << "one rank has nobody to share with";
    ASSERT_TRUE(comm->arena()) << comm->whyNoArena();
  }
  // The offset of an address of each rank in its segment, by rank. Collective.
  std::vector<Index> placesOf(const void* memory) const {
    const auto place = arena->placeOf(memory, 1);
    EXPECT_TRUE(place);
    const Index own = place.value_or(0);
    std::vector<Index> places(comm->size());
    MPI_Allgather(&own, sizeof own, MPI_BYTE, places.data(), sizeof own, MPI_BYTE, comm->mpi());
    return places;
  }
  static bool isPrivate(const std::vector<double>& memory) {
    const auto* begin = reinterpret_cast<const std::byte*>(memory.data());
    for (const MappedRange& range : mappedRanges(begin, static_cast<Index>(memory.size()) * 8))
      if (range.isShared)
        return false;
    return true;
  }
  void share(std::vector<double>& memory) const {
    arena->share(memory.data(), static_cast<Index>(memory.size() * sizeof(double)));
  }

  CommPtr comm = communicatorWithArena(8);
  std::shared_ptr<SharedArena> arena = comm->arena();
};

TEST_F(SharedPages, KeepTheirValuesAndAreSeenByAllRanks) {
  const int rank = comm->rank(), next = (rank + 1) % comm->size();
  std::vector<double> memory(70000);
  std::iota(memory.begin(), memory.end(), 1000.0 * rank);
  const std::vector<double> before = memory;
  share(memory);
  EXPECT_EQ(memory, before);
  const std::vector<Index> places = placesOf(&memory[60000]);
  EXPECT_EQ(*reinterpret_cast<const double*>(arena->at(next, places[next])), 1000.0 * next + 60000);
  MPI_Barrier(comm->mpi());
  *reinterpret_cast<double*>(arena->at(next, places[next])) = -rank;
  MPI_Barrier(comm->mpi());
  EXPECT_EQ(memory[60000], -((rank + comm->size() - 1) % comm->size()));
  memory[0] = 5;
  EXPECT_EQ(*reinterpret_cast<const double*>(arena->at(rank, *arena->placeOf(memory.data(), 8))),
            5);
  arena->unshare(memory.data());
}

TEST_F(SharedPages, BecomePrivateAgainWithTheirValues) {
  const Index taken = arena->bytesTaken();
  std::vector<double> memory(70000, 1);
  for (int round = 0; round < 3; ++round) {
    share(memory);
    EXPECT_FALSE(isPrivate(memory));
    EXPECT_GE(arena->bytesTaken(), taken + 70000 * 8);
    std::iota(memory.begin(), memory.end(), round);
    arena->unshare(memory.data());
    EXPECT_TRUE(isPrivate(memory));
    EXPECT_FALSE(arena->placeOf(memory.data(), 8));
    EXPECT_EQ(arena->bytesTaken(), taken);
    EXPECT_EQ(memory[0], round);
    EXPECT_EQ(memory.back(), round + 69999);
  }
}

TEST_F(SharedPages, ContainARangeOnlyAsAWhole) {
  std::vector<double> memory(70000);
  share(memory);
  const Index first = *arena->placeOf(memory.data(), 70000 * 8);
  EXPECT_EQ(arena->placeOf(&memory[7], 8), first + 56);
  EXPECT_EQ(arena->placeOf(&memory[69999], 8), first + 69999 * 8);
  EXPECT_FALSE(arena->placeOf(&memory[7], 70000 * 8 + kPage));
  EXPECT_FALSE(arena->placeOf(reinterpret_cast<std::byte*>(memory.data()) - kPage, 8));
  EXPECT_FALSE(arena->placeOf(reinterpret_cast<std::byte*>(memory.data()) - kPage, 2 * kPage));
  const Buffer buffer(100, "test", arena);
  EXPECT_EQ(arena->placeOf(buffer.data<std::byte>(), 100),
            arena->offsetOf(buffer.data<std::byte>()));
  arena->unshare(memory.data());
}

TEST_F(SharedPages, StayReadableBeyondTheArena) {
  const Pages pages(9, MAP_PRIVATE);
  *pages.page(8) = std::byte{3};
  arena->share(pages.page(0), 9 * kPage);
  arena->close();
  comm.reset();
  arena.reset();
  EXPECT_EQ(*pages.page(8), std::byte{3});
  *pages.page(8) = std::byte{4};
  EXPECT_EQ(*pages.page(8), std::byte{4});
}

TEST_F(SharedPages, AreSharedOnce) {
  std::vector<double> memory(70000, 1);
  share(memory);
  expectError(TENON_ERR_ARG, {"already shared"}, [&] { share(memory); });
  expectError(TENON_ERR_ARG, {"already shared"}, [&] { arena->share(&memory[69999], 8); });
  expectError(TENON_ERR_ARG, {"already shared"}, [&] { arena->share(&memory[10], 8); });
  expectError(TENON_ERR_ARG, {"no shared memory begins"}, [&] { arena->unshare(&memory[1]); });
  expectError(TENON_ERR_ARG, {"no shared memory begins"}, [&] { arena->unshare(&memory[5000]); });
  arena->unshare(memory.data());
  expectError(TENON_ERR_ARG, {"no shared memory begins"}, [&] { arena->unshare(memory.data()); });
}

TEST_F(SharedPages, AreRefusedIfTheyAreNotPrivateMemory) {
  const Index taken = arena->bytesTaken();
  expectError(TENON_ERR_SUPPORT, {"stack"}, [&] { arena->share(__builtin_frame_address(0), 8); });
  const Pages others(2, MAP_SHARED), own(3, MAP_PRIVATE);
  expectError(TENON_ERR_SUPPORT, {"is already shared"},
              [&] { arena->share(others.page(0), 2 * kPage); });
  own.protect(1, PROT_READ);
  expectError(TENON_ERR_SUPPORT, {"cannot be read and written"},
              [&] { arena->share(own.page(0), 3 * kPage); });
  own.unmap(1);
  expectError(TENON_ERR_SUPPORT, {"is not mapped"}, [&] { arena->share(own.page(0), 3 * kPage); });
  expectError(TENON_ERR_SUPPORT, {"is not mapped"}, [&] { arena->share(own.page(1), 8); });
  EXPECT_EQ(arena->bytesTaken(), taken);
}

TEST_F(SharedPages, AreRefusedWhereThereIsNoRoom) {
  std::vector<double> memory(Index(2) << 20, 7);
  expectError(TENON_ERR_MEMORY, {"cannot allocate", "-tenon_shared_memory"},
              [&] { share(memory); });
  EXPECT_TRUE(isPrivate(memory));
  EXPECT_EQ(memory.back(), 7);
}

TEST_F(SharedPages, AreForgottenWhenTheyWereFreed) {
  const Index taken = arena->bytesTaken();
  const Pages pages(4, MAP_PRIVATE);
  arena->share(pages.page(0), 4 * kPage);
  pages.replace();
  *pages.page(2) = std::byte{9};
  expectError(TENON_ERR_STATE, {"freed or mapped again"}, [&] { arena->unshare(pages.page(0)); });
  EXPECT_EQ(*pages.page(2), std::byte{9});
  EXPECT_EQ(arena->bytesTaken(), taken);
  arena->share(pages.page(0), 4 * kPage);
  EXPECT_EQ(*pages.page(2), std::byte{9});
  arena->unshare(pages.page(0));
}

// Neighbouring pieces of the heap, of all sizes up to some pages, with their neighbours' values.
TEST_F(SharedPages, DoNotChangeNeighbouringMemory) {
  std::vector<std::vector<double>> pieces;
  for (std::size_t i = 0; i < 60; ++i)
    pieces.emplace_back(37 * i + 1, static_cast<double>(i));
  for (std::size_t i = 0; i < pieces.size(); i += 7) {
    share(pieces[i]);
    pieces[i].assign(pieces[i].size(), -1);
    arena->unshare(pieces[i].data());
  }
  for (std::size_t i = 0; i < pieces.size(); ++i)
    EXPECT_EQ(pieces[i], std::vector<double>(37 * i + 1, i % 7 == 0 ? -1 : static_cast<double>(i)));
}

} // namespace
} // namespace tenon
