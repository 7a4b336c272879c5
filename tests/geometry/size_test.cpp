// SPDX-License-Identifier: BSD-2-Clause
// Tests that sizes whose number of elements or bytes does not fit into 64 bits are errors: of
// tensors, halos, boxes, windows and grids.
#include "geometry/layout/from_boxes.hpp"
#include "geometry/layout/layout_draft.hpp"
#include "geometry/layout/window.hpp"
#include "sys/expect_error.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace tenon {
namespace {

constexpr Index kMax = std::numeric_limits<Index>::max(), kMin = std::numeric_limits<Index>::min();

Layout onOne(const Shape& shape) {
  return Layout({.shape = shape, .grid = Grid::make({1}), .properties = {Property::broadcast()}});
}

TEST(Sizes, OfTensorsAreCounted) {
  EXPECT_EQ(elements(onOne({kMaxElements}).shape()), kMaxElements);
  EXPECT_EQ(elements(onOne({0, kMaxElements}).shape()), 0);
  // The first product is 2^64 + 2, which wraps round to 2.
  for (const Shape& shape : {Shape{3, 6148914691236517206},
                             {kMaxElements + 1},
                             {kMax, kMax, kMax},
                             {2, kMaxElements},
                             {kMax, kMax, 0}})
    expectError(TENON_ERR_SHAPE, {"more elements than"}, [&] { onOne(shape); });
}

TEST(Sizes, OfHalosAreCounted) {
  LayoutDraft draft(onOne({8, 8}));
  for (const auto& [low, high] : {std::pair{kMax, Index{0}},
                                  {Index{0}, kMax},
                                  {kMin, Index{0}},
                                  {Index{1} << 60, Index{1}}}) {
    draft.setHaloWidths(0, low, high, Boundary::Zero, Boundary::Zero);
    expectError(TENON_ERR_SHAPE, {"halo"}, [&] { draft.build(); });
  }
  draft.setHaloWidths(0, Index{1} << 58, 0, Boundary::Zero, Boundary::Zero);
  expectError(TENON_ERR_SHAPE, {"a part of extents"}, [&] { draft.build(); });
  for (const Interval& box : {Interval{kMin, kMax}, {kMin, 8}, {0, kMax}}) {
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
    layoutFromBoxes({{{kMin, kMax}, {0, 1}}});
  });
  EXPECT_EQ(elements(Box{{0, 0}, {kMin, kMax}}), 0);
}

TEST(Sizes, OfWindowsAreCounted) {
  const auto refuse = [](const Window& window) {
    expectError(TENON_ERR_SHAPE, {}, [&] { windowOutput(window, 8, 0); });
  };
  refuse({.kernel = 3, .dilation = kMax});
  refuse({.kernel = kMax, .dilation = 2});
  refuse({.padLow = kMax});
  refuse({.padLow = kMax - 8, .padHigh = 1});
  refuse({.padLow = kMin});
  refuse({.kernel = 9, .stride = kMax});
  refuse({.kernel = 2, .stride = kMax, .ceil = true});
}

TEST(Sizes, OfGridsAreCounted) {
  expectError(TENON_ERR_ARG, {"more positions than an int can count"}, [] {
    Grid::make({1 << 20, 1 << 20, 1 << 24});
  });
}

} // namespace
} // namespace tenon
