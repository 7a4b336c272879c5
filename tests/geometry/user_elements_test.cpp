// SPDX-License-Identifier: BSD-2-Clause
// Tests the halo elements that the user supplies (boundary mode Values): the boxes of
// userElements() must contain each such element once, and no other element, which is decided
// element by element by test::isUserCell(). Layouts are random.
#include "geometry/schedule/user_elements.hpp"

#include "support/conversion_definition.hpp"
#include "support/random_layout.hpp"

#include <gtest/gtest.h>

namespace tenon {
namespace {

bool holds(const ElementBox& box, const std::vector<Index>& local) {
  for (std::size_t d = 0; d < local.size(); ++d)
    if (local[d] < box.begin[d] || local[d] >= box.begin[d] + box.extent[d])
      return false;
  return true;
}

TEST(UserCells, CoverEachUserElementOnceAndNoOther) {
  test::LayoutDraw draw(3);
  Index found = 0;
  for (int i = 0; i < 3000; ++i) {
    Layout layout =
               draw.layout(draw.shape(1, 3, 5), draw.grid(6, 2), /*haloPercent=*/80, i % 2 == 0),
           plain = layout;
    draw.modesByChannel(layout, plain);
    for (int position = -1; position < layout.grid().size(); ++position) {
      const auto boxes = userElements(layout, position);
      const Box held = layout.box(position);
      test::forEach(extents(held), [&](const std::vector<Index>& local) {
        int times = 0;
        for (const ElementBox& box : boxes)
          times += holds(box, local);
        ASSERT_EQ(times, test::isUserCell(layout, held, local)) << layout.describe();
        found += times;
      });
      for (const ElementBox& box : boxes)
        ASSERT_GT(elements(box.extent), 0);
      ASSERT_TRUE(boxes.empty() || hasUserSide(layout));
    }
  }
  EXPECT_GT(found, 1000); // else the drawn layouts would test nothing
}

TEST(UserCells, NeedAHaloWithTheirMode) {
  const GridPtr grid = Grid::make({1});
  LayoutSpec spec{.shape = {4}, .grid = grid, .properties = {Property::broadcast()}};
  EXPECT_FALSE(hasUserSide(Layout(spec)));
  spec.halos = {Halo{.boxes = {{-1, 5}}, .low = Boundary::Zero, .high = Boundary::Values}};
  EXPECT_TRUE(hasUserSide(Layout(spec)));
  // Of the array of 6 elements, which begins at index -1, the last one is the user's.
  EXPECT_EQ(userElements(Layout(spec), 0),
            (std::vector<ElementBox>{{.begin = {5}, .extent = {1}}}));
}

} // namespace
} // namespace tenon
