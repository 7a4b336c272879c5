// SPDX-License-Identifier: BSD-2-Clause
// Tests layouts that are set piece by piece: which settings a later one resets, halos by widths,
// and messages for missing or wrong settings. The expected layouts are made from complete
// specifications or checked box by box.
#include "geometry/layout/layout_draft.hpp"

#include "sys/expect_error.hpp"

#include <gtest/gtest.h>

namespace tenon {
namespace {

LayoutDraft draft(std::vector<int> grid, Shape shape, const char* properties) {
  LayoutDraft made(Grid::make(std::move(grid)));
  made.setShape(std::move(shape));
  made.setProperties(parseProperties(properties));
  return made;
}

TEST(LayoutDraft, BuildsWhatASpecificationBuilds) {
  LayoutDraft made = draft({2, 2}, {6, 5}, "S0,S0");
  made.setSplitOrder(0, {1, 0});
  made.setCuts(0, {0, 1, 1, 4, 6});
  made.setHaloBoxes(1, {{-1, 7}}, Boundary::Zero, Boundary::Periodic);
  const Halo halo{.boxes = {{-1, 7}}, .low = Boundary::Zero, .high = Boundary::Periodic};
  const Layout expected({.shape = {6, 5},
                         .grid = Grid::make({2, 2}),
                         .properties = parseProperties("S0,S0"),
                         .splitAxes = {{1, 0}, {}},
                         .cuts = {{0, 1, 1, 4, 6}, {}},
                         .halos = {std::nullopt, halo}});
  EXPECT_TRUE(made.build() == expected);
}

TEST(LayoutDraft, WidthsBecomeTheBoxesOfTheParts) {
  LayoutDraft made = draft({3}, {10}, "S0");
  made.setCuts(0, {0, 4, 4, 10});
  made.setHaloWidths(0, 2, -1, Boundary::Zero, Boundary::Zero);
  const Layout layout = made.build();
  EXPECT_EQ(layout.box(0, 0), (Interval{-2, 3}));
  EXPECT_EQ(layout.box(0, 1), (Interval{0, 0})); // an empty part has no halo
  EXPECT_EQ(layout.box(0, 2), (Interval{2, 9}));
}

TEST(LayoutDraft, WidthsFollowCutsThatAreSetLater) {
  LayoutDraft made = draft({2}, {10}, "S0");
  made.setHaloWidths(0, 1, 1, Boundary::Periodic, Boundary::Periodic);
  made.setCuts(0, {0, 3, 10});
  EXPECT_EQ(made.build().box(0, 0), (Interval{-1, 4}));
}

TEST(LayoutDraft, TheLastOfTwoHalosCounts) {
  LayoutDraft made = draft({1}, {10}, "B");
  made.setHaloWidths(0, 1, 1, Boundary::Zero, Boundary::Zero);
  made.setHaloBoxes(0, {{-5, 10}}, Boundary::Zero, Boundary::Zero);
  EXPECT_EQ(made.build().box(0, 0), (Interval{-5, 10}));
  made.setHaloWidths(0, 1, 1, Boundary::Zero, Boundary::Zero);
  EXPECT_EQ(made.build().box(0, 0), (Interval{-1, 11}));
}

TEST(LayoutDraft, SaysWhatIsMissing) {
  LayoutDraft made(Grid::make({2}));
  expectError(TENON_ERR_STATE, {"no shape"}, [&] { made.build(); });
  expectError(TENON_ERR_STATE, {"before the shape"}, [&] { made.setCuts(0, {0, 1}); });
  made.setShape({4});
  expectError(TENON_ERR_STATE, {"no properties"}, [&] { made.build(); });
}

TEST(LayoutDraft, RefusesInvalidSpecifications) {
  LayoutDraft made = draft({2}, {4, 4}, "S0");
  expectError(TENON_ERR_ARG, {"dimension 2", "0 to 1"}, [&] { made.setCuts(2, {0, 4}); });
  expectError(TENON_ERR_ARG, {"dimension -1"}, [&] { made.setSplitOrder(-1, {0}); });
  expectError(TENON_ERR_LAYOUT, {"extent -3"}, [&] { made.setShape({4, -3}); });
  expectError(TENON_ERR_LAYOUT, {"1 to 8", "9"}, [&] { made.setShape(Shape(9, 1)); });
  made.setCuts(0, {0, 4}); // one part, but the grid makes two
  expectError(TENON_ERR_LAYOUT, {}, [&] { made.build(); });
}

TEST(LayoutDraft, AnotherNumberOfDimensionsForgetsTheOldOnes) {
  LayoutDraft made = draft({2}, {4, 4}, "S0");
  made.setCuts(0, {0, 1, 4});
  made.setShape({4, 4, 4});
  EXPECT_EQ(made.build().cuts(0), (std::vector<Index>{0, 2, 4}));
}

TEST(LayoutDraft, ACopyOfALayoutBuildsTheSameAndTakesAHalo) {
  LayoutDraft first = draft({2, 2}, {9, 5}, "S0,S1");
  first.setCuts(0, {0, 7, 9});
  const Layout model = first.build();
  EXPECT_EQ(LayoutDraft(model).build(), model);
  LayoutDraft wide(model);
  wide.setHaloWidths(0, 1, 2, Boundary::Zero, Boundary::Zero);
  EXPECT_EQ(wide.build().box(0, 1), (Interval{6, 11}));
  EXPECT_EQ(wide.build().withoutHalos(), model);
}

TEST(LayoutDraft, ACopyOfADualKeepsHalosOfPartialSumsUntilTheyAreSet) {
  LayoutDraft first = draft({2, 2}, {9, 5}, "S0,P");
  first.setHaloWidths(0, 1, 2, Boundary::Zero, Boundary::Zero);
  const Layout dual = first.build().dual();
  LayoutDraft copy(dual);
  EXPECT_EQ(copy.build(), dual);
  copy.setHaloWidths(1, 1, 1, Boundary::Periodic, Boundary::Periodic);
  const Layout both = copy.build();
  EXPECT_TRUE(both.spec().halos[0]->isPartial);
  EXPECT_FALSE(both.spec().halos[1]->isPartial);
  EXPECT_EQ(both.box(0, 0), dual.box(0, 0));
  EXPECT_EQ(both.box(1, 0), (Interval{-1, 6}));
  copy.setHaloWidths(0, 1, 2, Boundary::Zero, Boundary::Zero);
  EXPECT_FALSE(copy.build().spec().halos[0]->isPartial);
}

TEST(LayoutDraft, AChangedExtentForgetsTheCutsOfItsDimensionOnly) {
  LayoutDraft made = draft({2, 2}, {9, 5}, "S0,S1");
  made.setCuts(0, {0, 7, 9});
  made.setCuts(1, {0, 1, 5});
  made.setHaloBoxes(0, {{0, 8}, {6, 9}}, Boundary::None, Boundary::None);
  made.setShape({8, 5});
  const Layout built = made.build();
  EXPECT_EQ(built.cuts(0), (std::vector<Index>{0, 4, 8}));
  EXPECT_EQ(built.cuts(1), (std::vector<Index>{0, 1, 5}));
  EXPECT_FALSE(built.hasHalos());
}

TEST(LayoutDraft, WidthsOfAHaloStayWhenTheExtentChanges) {
  LayoutDraft made = draft({2}, {10}, "S0");
  made.setHaloWidths(0, 1, 2, Boundary::Periodic, Boundary::Zero);
  made.setShape({8});
  const Layout built = made.build();
  EXPECT_EQ(built.box(0, 0), (Interval{-1, 6}));
  EXPECT_EQ(built.box(0, 1), (Interval{3, 10}));
  EXPECT_EQ(built.spec().halos[0]->low, Boundary::Periodic);
}

TEST(LayoutDraft, ADimensionThatOtherAxesSplitForgetsItsCuts) {
  LayoutDraft made = draft({2, 2}, {9, 5}, "S0,S1");
  made.setCuts(0, {0, 7, 9});
  made.setCuts(1, {0, 1, 5});
  made.setHaloWidths(1, 1, 1, Boundary::Zero, Boundary::Zero);
  made.setProperties(parseProperties("S0,B"));
  const Layout built = made.build();
  EXPECT_EQ(built.cuts(0), (std::vector<Index>{0, 7, 9}));
  EXPECT_EQ(built.parts(1), 1);
  EXPECT_EQ(built.box(1, 0), (Interval{-1, 6}));
}

} // namespace
} // namespace tenon
