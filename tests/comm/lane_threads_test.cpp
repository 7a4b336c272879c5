// SPDX-License-Identifier: BSD-2-Clause
// Tests lanes, rings of slots in shared memory, with both ends in threads of one process, where
// ThreadSanitizer (the preset deep-tsan) sees both: a load or store that the protocol of the lane
// does not order after that of the other end is a data race. The slots are small, large, or hold
// the address of an array, and the ends look, or sleep until they are woken.
#include "comm/memory/lane.hpp"

#include "support/own_communicator.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <thread>
#include <vector>

namespace tenon {
namespace {

// An end that looks yields between two looks; one that sleeps does so for at most a millisecond,
// since it is not always woken.
constexpr long kNap = 1000000;

class LaneThreads : public testing::TestWithParam<bool> {
protected:
  void SetUp() override {
    if (comm->size() == 1)
      GTEST_SKIP() << "one rank has no arena";
    ASSERT_TRUE(comm->arena()) << comm->whyNoArena();
  }
  ReceiveLane otherEnd(const SendLane& lane, Index partBytes) const {
    return {*comm->arena(), comm->rank(), lane.address(), partBytes};
  }
  static void awaitPosting(const ReceiveLane& lane) {
    while (!lane.hasPosting())
      if (GetParam())
        lane.sleepUntilPosting(kNap);
      else
        std::this_thread::yield();
  }
  static void awaitRelease(const SendLane& lane) {
    if (GetParam())
      lane.sleepUntilRelease(kNap);
    else
      std::this_thread::yield();
  }

  CommPtr comm = test::communicatorWithArena(4);
};

// Each posting has its number in every element. The ring is full and empty many times.
TEST_P(LaneThreads, BringPackedPartsInOrder) {
  for (const Index bytes : {Index(8), Index(1000), 2 * kLargePart}) {
    constexpr int kSlots = 3;
    constexpr Index kPostings = 200;
    const Index count = LaneShape(bytes).dataBytes / Index(sizeof(Index));
    SendLane out(comm->arena(), bytes, kSlots, "test");
    ASSERT_TRUE(out.exists());
    ReceiveLane in = otherEnd(out, bytes);
    Index sum = 0;
    double readSeconds = 0;
    std::thread receiver([&] {
      for (Index posting = 0; posting < kPostings; ++posting) {
        awaitPosting(in);
        const auto* const values = reinterpret_cast<const Index*>(in.slotData());
        for (Index i = 0; i < count; ++i)
          sum += values[i] == posting;
        in.release(/*readSeconds=*/0.5);
      }
    });
    for (Index posting = 0; posting < kPostings; ++posting) {
      while (!out.hasFreeSlot())
        awaitRelease(out);
      readSeconds += out.readSeconds();
      std::fill_n(reinterpret_cast<Index*>(out.slotData()), count, posting);
      out.postPacked();
    }
    while (!out.isDrained())
      awaitRelease(out);
    receiver.join();
    EXPECT_EQ(sum, kPostings * count);
    EXPECT_EQ(readSeconds, in.isTimed() ? 0.5 * (kPostings - kSlots) : 0);
  }
}

// The owner of an array writes it again when all postings have been released.
TEST_P(LaneThreads, LetAnArrayBeReadInPlace) {
  constexpr Index kCount = 100, kRounds = 200;
  Buffer array(kCount * sizeof(Index), "test", comm->arena());
  auto* const elements = array.data<Index>();
  SendLane out(comm->arena(), array.bytes(), LaneShape::kMinSlots, "test");
  ASSERT_TRUE(out.exists());
  ReceiveLane in = otherEnd(out, array.bytes());
  Index sum = 0;
  std::thread receiver([&] {
    for (Index round = 0; round < kRounds; ++round) {
      awaitPosting(in);
      const ArrayPlace place = in.place();
      const auto* const theirs =
          reinterpret_cast<const Index*>(comm->arena()->at(comm->rank(), place.array));
      for (Index i = 0; i < kCount / 2; ++i)
        sum += theirs[i * place.strides[0]] == round + 2 * i;
      in.release();
    }
  });
  for (Index round = 0; round < kRounds; ++round) {
    for (Index i = 0; i < kCount; ++i)
      elements[i] = round + i;
    out.postArray(comm->arena()->offsetOf(elements), {2});
    while (!out.isDrained())
      awaitRelease(out);
  }
  receiver.join();
  EXPECT_EQ(sum, kRounds * kCount / 2);
}

// A lane that is destroyed with postings that nobody has read stays in the arena until they have
// been; then its memory is another's.
TEST_P(LaneThreads, GiveMemoryBackOnceItIsRead) {
  constexpr Index kBytes = 64;
  for (Index round = 0; round < 100; ++round) {
    auto out = std::make_unique<SendLane>(comm->arena(), kBytes, LaneShape::kMinSlots, "test");
    ASSERT_TRUE(out->exists());
    ReceiveLane in = otherEnd(*out, kBytes);
    const Index laneBytes = out->bytes();
    Index received = -1;
    std::thread receiver([&] {
      awaitPosting(in);
      received = *reinterpret_cast<const Index*>(in.slotData());
      in.release();
    });
    *reinterpret_cast<Index*>(out->slotData()) = round;
    out->postPacked();
    out.reset();
    for (int other = 0; other < 10; ++other) {
      Buffer buffer(laneBytes, "another", comm->arena());
      std::fill_n(buffer.data<std::byte>(), laneBytes, std::byte{0xff});
    }
    receiver.join();
    ASSERT_EQ(received, round);
  }
}

INSTANTIATE_TEST_SUITE_P(Comm, LaneThreads, testing::Bool(),
                         [](const auto& info) { return info.param ? "Sleeping" : "Looking"; });

} // namespace
} // namespace tenon
