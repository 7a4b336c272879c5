// SPDX-License-Identifier: BSD-2-Clause
// Tests layouts with poles: which dimension has the longitudes, what is refused, and their texts.
// The extension itself is tested in boundary_test.cpp, by schedules in schedule_test.cpp, and by
// operators in tests/linop.
#include "geometry/layout/layout.hpp"
#include "sys/errors/error.hpp"
#include "sys/expect_error.hpp"

#include <gtest/gtest.h>

namespace tenon {
namespace {

// A tensor on one process with halos of width 1 in some dimensions, each with one mode.
Layout withModes(const Shape& shape, const std::vector<std::pair<int, Boundary>>& modes,
                 int longitudes = -1) {
  LayoutSpec spec =
      Layout({.shape = shape, .grid = Grid::make({1}), .properties = parseProperties("B")}).spec();
  for (const auto& [dim, mode] : modes)
    spec.halos[dim] = Halo{.boxes = {{-1, shape[dim] + 1}},
                           .low = mode,
                           .high = mode,
                           .longitudes = isPole(mode) ? longitudes : -1};
  return Layout(std::move(spec));
}

TEST(Poles, LongitudesAreTheOtherDimensionOrThePeriodicOne) {
  using enum Boundary;
  EXPECT_EQ(withModes({4, 6}, {{0, Pole}}).halo(0)->longitudes, 1);
  EXPECT_EQ(withModes({4, 6}, {{1, Pole}}).halo(1)->longitudes, 0);
  EXPECT_EQ(withModes({1, 1, 4, 6}, {{2, PolePoint}}).halo(2)->longitudes, 3);
  EXPECT_EQ(withModes({1, 1, 4, 6}, {{3, PoleVector}}).halo(3)->longitudes, 2);
  EXPECT_EQ(withModes({5, 4, 6}, {{1, Pole}, {2, Periodic}}).halo(1)->longitudes, 2);
  EXPECT_EQ(withModes({4, 6, 5}, {{1, Pole}, {0, Periodic}}).halo(1)->longitudes, 0);
  EXPECT_EQ(withModes({1, 1, 5, 4, 6}, {{2, Zero}, {3, Pole}, {4, Periodic}}).halo(3)->longitudes,
            4);
  EXPECT_EQ(withModes({1, 1, 5, 4, 6}, {{3, Pole}}, 4).halo(3)->longitudes, 4);
  EXPECT_EQ(withModes({4, 6}, {{0, Zero}}, 1).halo(0)->longitudes, -1);
}

TEST(Poles, AreRefusedWhereTheyDoNotFit) {
  using enum Boundary;
  expectError(TENON_ERR_SHAPE, {"pole needs an even number of longitudes, not 45"}, [] {
    withModes({1, 1, 90, 45}, {{2, Pole}, {3, Periodic}});
  });
  expectError(TENON_ERR_SHAPE, {"pole_point needs a row at each pole"}, [] {
    withModes({1, 6}, {{0, PolePoint}});
  });
  expectError(TENON_ERR_LAYOUT, {"dimension 2", "periodic longitudes in dimension 3", "zero"}, [] {
    withModes({1, 1, 4, 6}, {{2, Pole}, {3, Zero}});
  });
  expectError(TENON_ERR_LAYOUT, {"dimensions 2 and 3 have pole modes"}, [] {
    withModes({1, 1, 4, 6}, {{2, Pole}, {3, Pole}});
  });
  expectError(TENON_ERR_LAYOUT, {"each of the dimensions 2,4", "mode periodic"}, [] {
    withModes({1, 1, 5, 4, 6}, {{3, Pole}});
  });
  expectError(TENON_ERR_LAYOUT, {"each of the dimensions 2,4", "mode periodic"}, [] {
    withModes({1, 1, 5, 4, 6}, {{2, Periodic}, {3, Pole}, {4, Periodic}});
  });
  expectError(TENON_ERR_LAYOUT, {"no other dimension"}, [] { withModes({6}, {{0, Pole}}); });
}

TEST(Poles, AreInTheTextsOfLayouts) {
  const Layout layout = withModes({1, 2, 4, 6}, {{2, Boundary::Pole}, {3, Boundary::Periodic}});
  EXPECT_NE(layout.describe().find("halo of 1 in dim 2 (pole, longitudes in dim 3)"),
            std::string::npos)
      << layout.describe();
  LayoutSpec spec = layout.spec();
  spec.halos[2]->bands = {{.end = 1, .low = Boundary::Pole, .high = Boundary::Pole},
                          {.end = 2, .low = Boundary::PoleVector, .high = Boundary::PoleVector}};
  const Layout vector(std::move(spec));
  EXPECT_NE(vector.describe().find("(pole; pole_vector from channel 1 on, longitudes in dim 3)"),
            std::string::npos)
      << vector.describe();
  EXPECT_FALSE(vector == layout);
}

// The two terms of a globe of 2 x 6 with one row beyond each pole: the rows between the poles, and
// those beyond, which are copied from longitudes shifted by half of the 6.
TEST(Poles, TheExtensionIsASumOfTwoProducts) {
  const Layout layout = withModes({2, 6}, {{0, Boundary::Pole}});
  const Layout rest = layout.withPoleTerm(false), crossed = layout.withPoleTerm(true);
  EXPECT_EQ(rest.halo(0)->crossed, std::optional(false));
  EXPECT_FALSE(rest.halo(1));
  EXPECT_EQ(crossed.halo(0)->crossed, std::optional(true));
  EXPECT_EQ(crossed.halo(1)->shift, 3);
  EXPECT_TRUE(layout.hasPole(false));
  EXPECT_FALSE(layout.hasPole(true));
  EXPECT_TRUE(layout.dual().hasPole(true));
}

} // namespace
} // namespace tenon
