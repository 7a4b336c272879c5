// SPDX-License-Identifier: BSD-2-Clause
// Tests layouts that are specified piece by piece and set up collectively, and layouts that are
// gathered from the ranks' boxes: equal on all ranks, or the same error on all.
#include "comm/layout_object.hpp"

#include "support/world.hpp"
#include "sys/expect_error.hpp"

#include <gtest/gtest.h>

namespace tenon {
namespace {

using test::world;

Ref<LayoutObject> draft() {
  auto object = makeRef<LayoutObject>(world(), Grid::make({world()->size()}));
  object->specify("shape", [](LayoutDraft& d) { d.setShape({7, 5}); });
  object->specify("properties", [](LayoutDraft& d) { d.setProperties(parseProperties("S0")); });
  return object;
}

TEST(LayoutObject, IsUsableOnceSetUpAndFixedFromThen) {
  const auto object = draft();
  expectError(TENON_ERR_STATE, {"TenonLayoutSetUp"}, [&] { object->layout(); });
  object->setUp();
  EXPECT_TRUE(object->layout() == Layout({.shape = {7, 5},
                                          .grid = Grid::make({world()->size()}),
                                          .properties = parseProperties("S0")}));
  expectError(TENON_ERR_STATE, {"is set up"}, [&] {
    object->specify("shape", [](LayoutDraft& d) { d.setShape({8, 5}); });
  });
  EXPECT_NO_THROW(object->setUp());
}

TEST(LayoutObject, AFailedSetOnOneRankFailsTheSetUpOnAll) {
  const auto object = draft();
  const auto setDim = [&](int dim) {
    object->specify("cuts", [&](LayoutDraft& d) { d.setCuts(dim, {}); });
  };
  const bool bad = world()->rank() == world()->size() - 1;
  EXPECT_EQ(bad, [&] {
    try {
      setDim(bad ? 2 : 0);
    } catch (const Error&) {
      return true;
    }
    return false;
  }());
  expectError(TENON_ERR_ARG, {"an earlier cuts failed", "dimension 2 is out of range"},
              [&] { object->setUp(); });
  EXPECT_FALSE(object->isSetUp());
  object->setUp(); // nothing of the failed Set is left
  EXPECT_TRUE(object->isSetUp());
}

TEST(LayoutObject, ASuccessfulSetterReplacesAFailedOne) {
  const auto object = draft();
  EXPECT_THROW(object->specify("shape", [](LayoutDraft& d) { d.setShape({-1, 5}); }), Error);
  object->specify("shape", [](LayoutDraft& d) { d.setShape({9, 5}); });
  object->setUp();
  EXPECT_EQ(object->layout().shape(), (Shape{9, 5}));
}

TEST(LayoutObject, DifferentSpecificationsAreAnError) {
  if (world()->size() == 1)
    GTEST_SKIP() << "one rank agrees with itself";
  const auto object = draft();
  const Index extent = world()->rank() == 1 ? 8 : 7;
  object->specify("shape", [&](LayoutDraft& d) { d.setShape({extent, 5}); });
  expectError(TENON_ERR_COLLECTIVE, {"the layout", "[7,5]", "[8,5]", "rank 1"},
              [&] { object->setUp(); });
}

// Rank r has part n-1-r of dimension 0; part i has i + 1 rows.
TEST(GatherBoxes, FindsCutsAndRankOrder) {
  const int n = world()->size(), row = n - 1 - world()->rank();
  const auto start = [](Index r) { return r * (r + 1) / 2; };
  const Layout layout = gatherBoxes(*world(), {{start(row), start(row + 1)}, {0, 3}}, std::nullopt);
  EXPECT_EQ(layout.shape(), (Shape{start(n), 3}));
  EXPECT_EQ(layout.grid().extents(), (std::vector<int>{n, 1}));
  for (int r = 0; r < n; ++r)
    EXPECT_EQ(layout.boxOfRank(r)[0], (Interval{start(n - 1 - r), start(n - r)}));
}

TEST(GatherBoxes, EmptyBoxesStayOutside) {
  if (world()->size() < 2)
    GTEST_SKIP() << "needs a rank that holds something";
  const Index n = world()->size() - 1, r = world()->rank();
  const bool outside = r == n;
  const Layout layout =
      gatherBoxes(*world(), {outside ? Interval{} : Interval{2 * r, 2 * r + 2}}, std::nullopt);
  EXPECT_EQ(layout.shape(), (Shape{2 * n}));
  EXPECT_EQ(layout.grid().position(static_cast<int>(n)), -1);
}

TEST(GatherBoxes, BoxesOfAnotherRankAreAnError) {
  if (world()->size() < 2)
    GTEST_SKIP() << "one rank agrees with itself";
  Box mine = {{0, 1}, {0, 3}};
  if (world()->rank() == 1)
    mine.pop_back();
  for (const std::optional<Shape>& shape : {std::optional<Shape>(), {{1, 3}}})
    expectError(TENON_ERR_COLLECTIVE, {"the shape", "boxes in 2 dimensions", "'in 1'", "rank 1"},
                [&] { gatherBoxes(*world(), mine, shape); });
}

TEST(GatherBoxes, OverlapIsAnErrorOnAllRanks) {
  if (world()->size() < 2)
    GTEST_SKIP() << "needs two ranks";
  expectError(TENON_ERR_LAYOUT, {"overlap"}, [] { gatherBoxes(*world(), {{0, 4}}, std::nullopt); });
}

} // namespace
} // namespace tenon
