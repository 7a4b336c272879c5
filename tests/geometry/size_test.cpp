// SPDX-License-Identifier: BSD-2-Clause
// Sizes whose elements or bytes no 64-bit integer counts.
#include "geometry/from_boxes.hpp"
#include "geometry/layout_draft.hpp"
#include "geometry/window.hpp"
#include "sys/expect_error.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace tenon {
namespace {

constexpr Index kMost = std::numeric_limits<Index>::max(),
                kLeast = std::numeric_limits<Index>::min();

Layout onOne(const Shape& shape) {
  return Layout({.shape = shape, .grid = Grid::make({1}), .properties = {Property::broadcast()}});
}

TEST(Sizes, OfTensorsAreCounted) {
  EXPECT_EQ(elements(onOne({kMostElements}).shape()), kMostElements);
  EXPECT_EQ(elements(onOne({0, kMostElements}).shape()), 0);
  for (const Shape& shape : {Shape{3, 6148914691236517206},
                             {kMostElements + 1},
                             {kMost, kMost, kMost},
                             {2, kMostElements},
                             {kMost, kMost, 0}})
    expectError(TENON_ERR_SHAPE, {"more elements than"}, [&] { onOne(shape); });
}

TEST(Sizes, OfHalosAreCounted) {
  LayoutDraft draft(onOne({8, 8}));
  for (const auto& [low, high] : {std::pair{kMost, Index{0}},
                                  {Index{0}, kMost},
                                  {kLeast, Index{0}},
                                  {Index{1} << 60, Index{1}}}) {
    draft.setHaloWidths(0, low, high, Boundary::Zero, Boundary::Zero);
    expectError(TENON_ERR_SHAPE, {"halo"}, [&] { draft.build(); });
  }
  draft.setHaloWidths(0, Index{1} << 58, 0, Boundary::Zero, Boundary::Zero);
  expectError(TENON_ERR_SHAPE, {"a part of extents"}, [&] { draft.build(); });
  for (const Interval& box : {Interval{kLeast, kMost}, {kLeast, 8}, {0, kMost}}) {
    draft.setHaloBoxes(0, {box}, Boundary::Zero, Boundary::Zero);
    expectError(TENON_ERR_SHAPE, {"halo of dimension 0"}, [&] { draft.build(); });
  }
}

TEST(Sizes, OfBoxesAreCounted) {
  const Interval side{0, Index{1} << 21};
  for (const Box& box : {Box{side, side, side}, {{0, 3}, side, side, side}})
    expectError(TENON_ERR_SHAPE, {"more elements than", "64-bit integer"},
                [&] { layoutFromBoxes({box}); });
  expectError(TENON_ERR_LAYOUT, {"begin at -9223372036854775808"}, [] {
    layoutFromBoxes({{{kLeast, kMost}, {0, 1}}});
  });
  EXPECT_EQ(elements(Box{{0, 0}, {kLeast, kMost}}), 0);
}

TEST(Sizes, OfWindowsAreCounted) {
  const auto refuse = [](const Window& window) {
    expectError(TENON_ERR_SHAPE, {}, [&] { windowOutput(window, 8, 0); });
  };
  refuse({.kernel = 3, .dilation = kMost});
  refuse({.kernel = kMost, .dilation = 2});
  refuse({.padLow = kMost});
  refuse({.padLow = kMost - 8, .padHigh = 1});
  refuse({.padLow = kLeast});
  refuse({.kernel = 9, .stride = kMost});
  refuse({.kernel = 2, .stride = kMost, .ceil = true});
}

TEST(Sizes, OfGridsAreCounted) {
  expectError(TENON_ERR_ARG, {"more positions than an int can count"}, [] {
    Grid::make({1 << 20, 1 << 20, 1 << 24});
  });
}

} // namespace
} // namespace tenon
