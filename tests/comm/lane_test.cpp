// SPDX-License-Identifier: BSD-2-Clause
// Tests lanes, rings of slots in shared memory, from each rank to the next one on the node: order,
// full and empty rings, arrays in place of packed data, and the memory of a lane whose sender is
// destroyed first. All ranks run each test.
#include "comm/memory/lane.hpp"

#include "comm/agreement/wait_policy.hpp"
#include "support/own_communicator.hpp"
#include "sys/core_share.h"

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <sched.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace tenon {
namespace {

constexpr int kSlots = 5;

class Lane : public testing::Test {
protected:
  void SetUp() override {
    if (comm->size() == 1)
      GTEST_SKIP() << "one rank has nobody to send to";
    ASSERT_TRUE(comm->arena()) << comm->whyNoArena();
  }

  ReceiveLane receiveLane(const SendLane& out, Index bytes) const {
    const LaneAddress own = out.address();
    LaneAddress theirs;
    MPI_Sendrecv(&own, sizeof own, MPI_BYTE, next, 0, &theirs, sizeof theirs, MPI_BYTE, previous, 0,
                 comm->mpi(), MPI_STATUS_IGNORE);
    return {*comm->arena(), previous, theirs, bytes};
  }
  void await(const ReceiveLane& lane) const {
    WaitPolicy policy(*comm);
    while (!lane.hasPosting())
      policy.wait([&] { return ranksText({previous}); });
  }

  CommPtr comm = test::communicatorWithArena(4);
  int next = (comm->rank() + 1) % comm->size();
  int previous = (comm->rank() + comm->size() - 1) % comm->size();
};

// Sends numbers in parts of 8 bytes, three times as many per round as there are slots, so the ring
// is full and empty many times.
TEST_F(Lane, BringsPostingsInOrderAndNoMoreThanThereAreSlots) {
  SendLane out(comm->arena(), /*partBytes=*/8, kSlots, "test");
  ASSERT_TRUE(out.exists());
  ReceiveLane in = receiveLane(out, 8);
  EXPECT_TRUE(out.isDrained());
  for (Index round = 0; round < 100; ++round) {
    Index sent = 0, received = 0;
    while (sent < 3 * kSlots || received < 3 * kSlots) {
      if (sent < 3 * kSlots && out.hasFreeSlot()) {
        const Index value = 1000 * round + sent++;
        std::memcpy(out.slotData(), &value, sizeof value);
        out.postPacked();
      }
      if (received < 3 * kSlots && in.hasPosting()) {
        Index value = -1;
        EXPECT_EQ(in.place().array, kPacked);
        std::memcpy(&value, in.slotData(), sizeof value);
        EXPECT_EQ(value, 1000 * round + received++);
        in.release();
      }
      sched_yield();
    }
  }
  EXPECT_FALSE(in.hasPosting());
}

// Ranks wake each other from now on, since their cores are wanted: there are more ranks than cores,
// or the library for LD_PRELOAD (preload/README.md) says so. Returns false if neither is true.
bool wakeRanks(const SharedArena& arena) {
  using Share = TenonCoreShare*();
  auto* const share = reinterpret_cast<Share*>(dlsym(RTLD_DEFAULT, "tenon_wait_core_share"));
  if (share)
    tenonNoteYield(share(), 50000);
  return share || !hasCoreForEachRank(&arena);
}

// Each rank sleeps until the previous one has posted, and until the next one has released, for at
// most an hour, after which the test's own limit would have ended it: they are woken, whoever is
// first. The ranks have more than the cores, or learn that their cores are wanted.
TEST_F(Lane, WakesARankThatSleeps) {
  if (!wakeRanks(*comm->arena()))
    GTEST_SKIP() << "no rank is woken where no core is wanted";
  SendLane out(comm->arena(), /*partBytes=*/8, /*slots=*/1, "test");
  ReceiveLane in = receiveLane(out, 8);
  constexpr long kHour = 3600L * 1000000000;
  for (Index round = 0; round < 500; ++round) {
    const bool isFirst = comm->rank() % 2 == 0;
    const auto post = [&] {
      std::memcpy(out.slotData(), &round, sizeof round);
      out.postPacked();
    };
    if (isFirst)
      post();
    while (!in.hasPosting())
      in.sleepUntilPosting(kHour);
    Index received = -1;
    std::memcpy(&received, in.slotData(), sizeof received);
    ASSERT_EQ(received, round);
    in.release();
    if (!isFirst)
      post();
    while (!out.isDrained())
      out.sleepUntilRelease(kHour);
  }
}

// When a sender sees its last release, it can free the lane, and other data can be in its memory.
TEST_F(Lane, IsNotWrittenByAReceiverButForTheCountOfReleases) {
  if (!wakeRanks(*comm->arena()))
    GTEST_SKIP() << "no rank is woken where no core is wanted";
  const SharedArena& arena = *comm->arena();
  SendLane out(comm->arena(), /*partBytes=*/8, /*slots=*/1, "test");
  ReceiveLane in(arena, comm->rank(), out.address(), 8);
  for (int round = 0; round < 3; ++round) {
    out.postPacked();
    // The rest of the head says that both ends sleep.
    std::byte* const lane = arena.at(comm->rank(), out.address().place);
    std::memset(lane + sizeof(std::uint64_t), 1, LaneShape::kLine - sizeof(std::uint64_t));
    const std::vector<std::byte> before(lane, lane + out.bytes());
    in.release();
    EXPECT_TRUE(out.isDrained());
    EXPECT_TRUE(std::equal(before.begin() + sizeof(std::uint64_t), before.end(),
                           lane + sizeof(std::uint64_t)));
  }
}

TEST_F(Lane, TellsHowLongReadingALargeSlotTook) {
  const Index large = Index(1) << 16;
  for (const Index bytes : {Index(8), large}) {
    SendLane out(comm->arena(), bytes, 1, "test");
    ReceiveLane in = receiveLane(out, bytes);
    EXPECT_EQ(in.isTimed(), bytes == large);
    EXPECT_EQ(out.readSeconds(), 0);
    out.postPacked();
    await(in);
    in.release(0.25 + comm->rank());
    MPI_Barrier(comm->mpi());
    EXPECT_EQ(out.readSeconds(), bytes == large ? 0.25 + next : 0);
  }
}

TEST(LaneShape, RingsTogetherAreLargerThanAPrivateCacheAndNotMuchLarger) {
  const auto ringOf = [](Index part, Index packed) {
    const LaneShape shape(part);
    return shape.slotsOf(part, packed) * shape.dataBytes;
  };
  const Index mebibyte = Index(1) << 20;
  EXPECT_EQ(ringOf(8, 8), 8 * LaneShape(8).dataBytes);
  EXPECT_EQ(ringOf(mebibyte / 16, mebibyte / 16), mebibyte);
  EXPECT_EQ(ringOf(mebibyte / 2, mebibyte / 2), mebibyte);
  EXPECT_EQ(ringOf(2 * mebibyte, 2 * mebibyte), 2 * mebibyte);
  EXPECT_EQ(ringOf(100 * mebibyte, 100 * mebibyte), 2 * mebibyte);
  EXPECT_EQ(ringOf(mebibyte / 16, mebibyte), 8 * LaneShape(mebibyte / 16).dataBytes);
  EXPECT_EQ(ringOf(mebibyte, 64 * mebibyte), mebibyte);
}

TEST_F(Lane, IsFullWithoutARelease) {
  SendLane out(comm->arena(), 8, kSlots, "test");
  ReceiveLane in = receiveLane(out, 8);
  for (int i = 0; i < kSlots; ++i) {
    EXPECT_TRUE(out.hasFreeSlot());
    out.postPacked();
  }
  EXPECT_FALSE(out.hasFreeSlot());
  MPI_Barrier(comm->mpi());
  await(in);
  in.release();
  MPI_Barrier(comm->mpi());
  EXPECT_TRUE(out.hasFreeSlot());
  EXPECT_FALSE(out.isDrained());
}

TEST_F(Lane, TellsWhereAnArrayLies) {
  Buffer array(800, "test", comm->arena());
  for (int i = 0; i < 100; ++i)
    array.data<double>()[i] = 100 * comm->rank() + i;
  SendLane out(comm->arena(), 800, kSlots, "test");
  ReceiveLane in = receiveLane(out, 800);
  out.postArray(comm->arena()->offsetOf(array.data<double>() + 3), {7, -2});
  await(in);
  const ArrayPlace place = in.place();
  EXPECT_EQ(place.strides[0], 7);
  EXPECT_EQ(place.strides[1], -2);
  const auto* theirs = reinterpret_cast<const double*>(comm->arena()->at(previous, place.array));
  EXPECT_EQ(theirs[4], 100 * previous + 7);
  in.release();
  MPI_Barrier(comm->mpi());
  EXPECT_TRUE(out.isDrained());
}

TEST_F(Lane, StaysUntilItIsReadThoughItsSenderIsGone) {
  const auto& arena = comm->arena();
  const Index before = arena->bytesTaken();
  auto out = std::make_unique<SendLane>(arena, 8, kSlots, "test");
  ReceiveLane in = receiveLane(*out, 8);
  const Index value = 77 + comm->rank();
  std::memcpy(out->slotData(), &value, sizeof value);
  out->postPacked();
  MPI_Barrier(comm->mpi());
  out.reset();
  const Buffer another(64, "another", arena); // not in the lane's place
  std::memset(const_cast<std::byte*>(another.data<std::byte>()), -1, 64);
  EXPECT_GT(arena->bytesTaken(), before + 64);
  MPI_Barrier(comm->mpi());
  await(in);
  Index read = 0;
  std::memcpy(&read, in.slotData(), sizeof read);
  EXPECT_EQ(read, 77 + previous);
  in.release();
  MPI_Barrier(comm->mpi());
  const Buffer later(64, "later", arena);
  EXPECT_EQ(arena->bytesTaken(), before + 128);
}

TEST_F(Lane, DoesNotExistInAFullArena) {
  std::vector<Buffer> all;
  for (Index bytes = Index(1) << 21; bytes >= 64; bytes /= 2)
    while (all.emplace_back(bytes, "all", comm->arena()),
           comm->arena()->contains(all.back().data<std::byte>())) {
    }
  const SendLane out(comm->arena(), 8, kSlots, "test");
  EXPECT_FALSE(out.exists());
  EXPECT_EQ(out.address().place, -1);
}

} // namespace
} // namespace tenon
