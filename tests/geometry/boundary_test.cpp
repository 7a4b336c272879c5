// SPDX-License-Identifier: BSD-2-Clause
// Tests the extension of a dimension beyond its ends: for each boundary mode the index and sign
// that each element from -7 to 9 copies, written by hand; and the runs of extensionSegments()
// against the elements one by one.
#include "geometry/layout/boundary.hpp"
#include "sys/errors/error.hpp"

#include <gtest/gtest.h>

namespace tenon {
namespace {

// The index that each element of [-7, 10) copies, or -1 for a zero.
std::vector<Index> extended(Boundary mode, Index extent) {
  std::vector<Index> result;
  for (Index i = -7; i < 10; ++i)
    result.push_back(extensionSource(i, extent, mode, mode).value_or(-1));
  return result;
}

TEST(Boundary, ZeroLeavesNothingOutside) {
  EXPECT_EQ(extended(Boundary::Zero, 4),
            (std::vector<Index>{-1, -1, -1, -1, -1, -1, -1, 0, 1, 2, 3, -1, -1, -1, -1, -1, -1}));
}

TEST(Boundary, PeriodicWrapsSeveralTimes) {
  EXPECT_EQ(extended(Boundary::Periodic, 4),
            (std::vector<Index>{1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1}));
}

TEST(Boundary, ReflectBouncesWithoutRepeatingTheEdge) {
  EXPECT_EQ(extended(Boundary::Reflect, 4),
            (std::vector<Index>{1, 0, 1, 2, 3, 2, 1, 0, 1, 2, 3, 2, 1, 0, 1, 2, 3}));
}

TEST(Boundary, ReplicateRepeatsTheEdge) {
  EXPECT_EQ(extended(Boundary::Replicate, 4),
            (std::vector<Index>{0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 3, 3, 3, 3, 3, 3}));
}

// The value of each element of [-7, 10) if the elements of the domain have the values 1, 2, ...
std::vector<Index> walled(Boundary mode, Index extent) {
  std::vector<Index> result;
  for (Index i = -7; i < 10; ++i)
    result.push_back(extensionSign(i, extent, mode, mode) *
                     (*extensionSource(i, extent, mode, mode) + 1));
  return result;
}

TEST(Boundary, WallsBetweenElementsRepeatTheEdge) {
  EXPECT_EQ(walled(Boundary::Symmetric, 4),
            (std::vector<Index>{2, 3, 4, 4, 3, 2, 1, 1, 2, 3, 4, 4, 3, 2, 1, 1, 2}));
  EXPECT_EQ(walled(Boundary::Odd, 4),
            (std::vector<Index>{2, 3, 4, -4, -3, -2, -1, 1, 2, 3, 4, -4, -3, -2, -1, 1, 2}));
  EXPECT_EQ(walled(Boundary::Odd, 1),
            (std::vector<Index>{-1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1}));
}

TEST(Boundary, WallsOnAnElementDoNotRepeatIt) {
  EXPECT_EQ(walled(Boundary::OddPoint, 4),
            (std::vector<Index>{-2, 1, 2, 3, -4, -3, -2, 1, 2, 3, 4, -3, -2, -1, 2, 3, 4}));
}

// Beyond a pole the value of each element of [-7, 10), with 10 added where it is on the opposite
// meridian.
std::vector<Index> globe(Boundary low, Boundary high, Index extent) {
  std::vector<Index> result;
  for (Index i = -7; i < 10; ++i)
    result.push_back(extensionSign(i, extent, low, high) *
                     (*extensionSource(i, extent, low, high) + 1 +
                      (crossesPole(i, extent, low, high) ? 10 : 0)));
  return result;
}

TEST(Boundary, BeyondAPoleRowsFollowInReverseOnTheOppositeMeridian) {
  using enum Boundary;
  EXPECT_EQ(globe(Pole, Pole, 4),
            (std::vector<Index>{2, 3, 4, 14, 13, 12, 11, 1, 2, 3, 4, 14, 13, 12, 11, 1, 2}));
  EXPECT_EQ(globe(PolePoint, PolePoint, 4),
            (std::vector<Index>{12, 1, 2, 3, 14, 13, 12, 1, 2, 3, 4, 13, 12, 11, 2, 3, 4}));
  EXPECT_EQ(globe(PoleVector, PoleVector, 4), (std::vector<Index>{2, 3, 4, -14, -13, -12, -11, 1, 2,
                                                                  3, 4, -14, -13, -12, -11, 1, 2}));
  EXPECT_EQ(globe(Pole, Pole, 1),
            (std::vector<Index>{11, 1, 11, 1, 11, 1, 11, 1, 11, 1, 11, 1, 11, 1, 11, 1, 11}));
  // A pole on row 0, and one beyond the last row.
  EXPECT_EQ(globe(PolePoint, Pole, 3),
            (std::vector<Index>{13, 12, 1, 2, 3, 13, 12, 1, 2, 3, 13, 12, 11, 2, 3, 13, 12}));
  // A pole at one end only is its own image beyond the other one.
  EXPECT_EQ(globe(Pole, Symmetric, 2),
            (std::vector<Index>{2, 12, 11, 1, 2, 12, 11, 1, 2, 2, 1, 1, 2, 2, 1, 1, 2}));
}

TEST(Boundary, TheUserValuesAreZeroToTheExtension) {
  EXPECT_EQ(extended(Boundary::Values, 4), extended(Boundary::Zero, 4));
  for (int i = 0; i < kBoundaries; ++i)
    EXPECT_EQ(isUserSupplied(Boundary(i)), Boundary(i) == Boundary::Values);
}

TEST(Boundary, NamesAreReadBack) {
  for (int i = 0; i < kBoundaries; ++i)
    EXPECT_EQ(parseBoundary(boundaryName(Boundary(i))), Boundary(i));
  EXPECT_THROW(parseBoundary("mirror"), Error);
  EXPECT_THROW(parseBoundary(""), Error);
}

TEST(Boundary, AnEmptyDomainHasNoSource) {
  EXPECT_FALSE(extensionSource(0, 0, Boundary::Periodic, Boundary::Periodic));
  EXPECT_FALSE(extensionSource(-1, 0, Boundary::Replicate, Boundary::Replicate));
}

TEST(Boundary, SegmentsCoverEachCellOnceInEveryMode) {
  for (int low = 0; low < kBoundaries; ++low)
    for (int high = 0; high < kBoundaries; ++high)
      for (Index extent = 0; extent <= 5; ++extent)
        for (Index begin = -9; begin < 9; ++begin)
          for (Index end = begin; end < 12; ++end) {
            std::vector<std::optional<Index>> held(end - begin);
            for (const Segment& s :
                 extensionSegments({begin, end}, extent, Boundary(low), Boundary(high)))
              for (Index i = 0; i < s.length; ++i) {
                ASSERT_FALSE(held[s.local + i].has_value());
                held[s.local + i] = s.global + i * s.step;
                ASSERT_EQ(s.sign, extensionSign(begin + s.local + i, extent, Boundary(low),
                                                Boundary(high)));
                ASSERT_EQ(s.crossed,
                          crossesPole(begin + s.local + i, extent, Boundary(low), Boundary(high)));
              }
            for (Index i = begin; i < end; ++i)
              ASSERT_EQ(held[i - begin], extensionSource(i, extent, Boundary(low), Boundary(high)))
                  << i << " of " << begin << ":" << end << " over " << extent;
          }
}

// Halo elements that copy no element of the tensor are skipped as a whole, so the time does not
// grow with their number.
TEST(Boundary, ZerosTakeNoTime) {
  const Index wide = Index(1) << 58;
  for (const Index extent : {0, 8})
    for (const Boundary mode : {Boundary::Zero, Boundary::Values, Boundary::Linked}) {
      const auto runs = extensionSegments({-wide, extent + wide}, extent, mode, mode);
      ASSERT_EQ(runs.size(), extent > 0 ? 1u : 0u);
      for (const Segment& run : runs)
        EXPECT_TRUE(run.local == wide && run.global == 0 && run.length == extent);
    }
}

// The elements -3, -2 and -1 copy 3, 2 and 1.
TEST(Boundary, AReflectionIsOneRunBackwards) {
  const auto runs = extensionSegments({-3, 0}, 8, Boundary::Reflect, Boundary::Reflect);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].global, 3);
  EXPECT_EQ(runs[0].step, -1);
  EXPECT_EQ(runs[0].length, 3);
}

} // namespace
} // namespace tenon
