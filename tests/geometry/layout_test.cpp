// SPDX-License-Identifier: BSD-2-Clause
// Tests process grids, cuts, layouts and layouts from boxes: boxes and comparisons against values
// by hand, and the messages about boxes that do not form a grid against a count of the owners of
// every element.
#include "geometry/layout/cuts.hpp"
#include "geometry/layout/from_boxes.hpp"
#include "geometry/layout/layout.hpp"
#include "sys/errors/error.hpp"
#include "sys/expect_error.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string>

namespace tenon {
namespace {

TEST(Grid, IsRowMajorInTheGivenRankOrder) {
  const Grid grid({2, 3}, {5, 4, 3, 2, 1, 0});
  EXPECT_EQ(grid.position(5), 0);
  EXPECT_EQ(grid.position(2), 3);
  EXPECT_EQ(grid.position(6), -1);
  EXPECT_EQ(grid.coordinates(4), (std::vector<int>{1, 1}));
  EXPECT_EQ(grid.positionAt({1, 1}), 4);
}

TEST(Grid, RefusesBadRanks) {
  EXPECT_THROW(Grid({2, 2}, {0, 1, 2}), Error);
  EXPECT_THROW(Grid({2}, {1, 1}), Error);
  EXPECT_THROW(Grid({2}, {0, -1}), Error);
  EXPECT_THROW(Grid({0}, {}), Error);
  EXPECT_THROW(Grid({1 << 16, 1 << 16}, {}), Error);
}

TEST(Cuts, GiveTheFirstPartsOneMore) {
  EXPECT_EQ(balancedCuts(10, 4), (std::vector<Index>{0, 3, 6, 8, 10}));
  EXPECT_EQ(balancedCuts(2, 4), (std::vector<Index>{0, 1, 2, 2, 2}));
}

// A longer dimension extends its last part that is not empty; a shorter one is cut off.
TEST(Cuts, OfAnotherExtentDifferAtTheEnd) {
  using List = std::vector<Index>;
  EXPECT_EQ(cutsOfExtent({0, 0, 5, 8, 8}, 9), (List{0, 0, 5, 9, 9}));
  EXPECT_EQ(cutsOfExtent({0, 5, 8, 9}, 8), (List{0, 5, 8, 8}));
  EXPECT_EQ(cutsOfExtent({0, 0, 0}, 1), (List{0, 1, 1}));
}

TEST(Cuts, NestTheMinorAxisInTheMajor) {
  // 10 in 3 parts is 4, 3, 3; each in 2 parts is 2, 2 and 2, 1 twice. Balanced cuts in 6 parts
  // would be 2, 2, 2, 2, 1, 1.
  EXPECT_EQ(nestedCuts(10, {3, 2}), (std::vector<Index>{0, 2, 4, 6, 7, 9, 10}));
  EXPECT_EQ(nestedCuts(10, {}), (std::vector<Index>{0, 10}));
}

TEST(Layout, BoxesOfASharedDimensionFollowTheOrderOfItsAxes) {
  const GridPtr grid = Grid::make({2, 2});
  const Layout major0({.shape = {8}, .grid = grid, .properties = parseProperties("S0,S0")});
  const Layout major1(
      {.shape = {8}, .grid = grid, .properties = parseProperties("S0,S0"), .splitAxes = {{1, 0}}});
  EXPECT_EQ(major0.boxOfRank(1), (Box{{2, 4}}));
  EXPECT_EQ(major1.boxOfRank(1), (Box{{4, 6}}));
  EXPECT_FALSE(major0 == major1);
}

// Every pair of properties on the two axes of one process, on grids that have these axes or not.
TEST(Layout, IsEqualWithAnyPropertyOnAnAxisOfOneProcess) {
  const GridPtr grid = Grid::make({1, 3, 1});
  const std::vector<std::string> names = {"S0", "S1", "B", "P", "R"};
  const Layout without(
      {.shape = {7, 5}, .grid = Grid::make({3}), .properties = parseProperties("S1")});
  for (const std::string& first : names)
    for (const std::string& last : names) {
      const Layout layout(
          {.shape = {7, 5}, .grid = grid, .properties = parseProperties(first + ",S1," + last)});
      EXPECT_EQ(layout, without) << layout.describe();
      EXPECT_EQ(layout.dual(), without.dual()) << layout.describe();
      EXPECT_TRUE(haveSameMemory(layout, without));
      EXPECT_TRUE(stopsBetween(layout, without).empty());
      EXPECT_FALSE(layout.holdsPartialSums());
      EXPECT_EQ(layout.splitAxes(1), (std::vector<int>{1}));
      for (int rank = 0; rank < 3; ++rank)
        EXPECT_EQ(layout.boxOfRank(rank), without.boxOfRank(rank));
    }
}

TEST(Layout, DiffersByThePropertyOfAnAxisOfSeveralProcesses) {
  const auto on = [](std::vector<int> grid, const char* properties) {
    return Layout({.shape = {8, 8},
                   .grid = Grid::make(std::move(grid)),
                   .properties = parseProperties(properties)});
  };
  EXPECT_FALSE(on({2, 1}, "S0,B") == on({2, 1}, "S1,B"));
  EXPECT_FALSE(on({2, 1}, "B,S0") == on({2, 1}, "P,S0"));
  EXPECT_FALSE(on({2, 1}, "S0,B") == on({1, 4}, "B,S0"));
  EXPECT_FALSE(on({2, 1, 2}, "S0,B,S0") == on({4}, "S0")); // the same boxes, but another grid
  const Layout reversed(
      {.shape = {8, 8}, .grid = Grid::make({2, 1}, {1, 0}), .properties = parseProperties("S0,B")});
  EXPECT_FALSE(on({2, 1}, "S0,B") == reversed);
}

TEST(Layout, TakesASplitOrderWithAxesOfOneProcess) {
  const auto layout = [](std::vector<int> order) {
    return Layout({.shape = {12},
                   .grid = Grid::make({2, 1, 3}),
                   .properties = parseProperties("S0,S0,S0"),
                   .splitAxes = {std::move(order)}});
  };
  EXPECT_EQ(layout({2, 1, 0}), layout({2, 0}));
  EXPECT_FALSE(layout({2, 1, 0}) == layout({0, 1, 2}));
  EXPECT_THROW(layout({2, 1}), Error);
  EXPECT_THROW(layout({2, 0, 7}), Error);
}

// Between grids that differ in such an axis a halo is still filled on its own grid.
TEST(Holding, StopsWithoutHaloBetweenTwoGrids) {
  const Layout from({.shape = {8}, .grid = Grid::make({2}), .properties = parseProperties("S0")});
  const Layout plain(
      {.shape = {8}, .grid = Grid::make({1, 2}), .properties = parseProperties("B,S0")});
  LayoutSpec spec = plain.spec();
  spec.halos = {Halo{.boxes = {{0, 5}, {3, 8}}}};
  const Layout wide(spec);
  const std::vector<Layout> stops = stopsBetween(from, wide);
  ASSERT_EQ(stops.size(), 2U);
  EXPECT_EQ(stops[0].grid(), plain.grid());
  EXPECT_EQ(stops[0], plain);
  EXPECT_EQ(stops[1], wide);
}

TEST(Layout, RootHoldsAloneAndTheRestIsEmpty) {
  const Layout layout(
      {.shape = {4, 3}, .grid = Grid::make({2, 2}), .properties = parseProperties("R,S1")});
  EXPECT_EQ(layout.boxOfRank(1), (Box{{0, 4}, {2, 3}}));
  EXPECT_EQ(elements(layout.boxOfRank(2)), 0);
  EXPECT_EQ(elements(layout.boxOfRank(7)), 0);
}

TEST(Layout, DualSwapsBAndPAndGAndGStar) {
  LayoutSpec spec{
      .shape = {6}, .grid = Grid::make({2, 2, 2}), .properties = parseProperties("S0,B,P")};
  spec.halos = {
      Halo{.boxes = {{-1, 4}, {2, 7}}, .low = Boundary::Periodic, .high = Boundary::Periodic}};
  const Layout layout(spec);
  EXPECT_EQ(describe(layout.dual().properties()), "S0,P,B");
  EXPECT_TRUE(layout.dual().halo(0)->isPartial);
  EXPECT_TRUE(layout.dual().dual() == layout);
}

TEST(Layout, ModeNoneClipsTheBox) {
  LayoutSpec spec{.shape = {6}, .grid = Grid::make({2}), .properties = parseProperties("S0")};
  spec.halos = {Halo{.boxes = {{-2, 4}, {2, 9}}, .low = Boundary::None, .high = Boundary::Zero}};
  const Layout layout(spec);
  EXPECT_EQ(layout.boxOfRank(0), (Box{{0, 4}}));
  EXPECT_EQ(layout.boxOfRank(1), (Box{{2, 9}}));
  EXPECT_EQ(layout.ownedBox(1), (Box{{3, 6}}));
}

TEST(Layout, RefusesInconsistentSpecifications) {
  const GridPtr grid = Grid::make({2, 2});
  auto make = [&](LayoutSpec spec) { return Layout(std::move(spec)); };
  // One property for two axes; a dimension that the shape does not have; a negative extent; no
  // dimension; split points that decrease, and that do not end at the extent; an order of axes that
  // do not split the dimension; and one box of a halo for two parts.
  EXPECT_THROW(make({.shape = {4}, .grid = grid, .properties = parseProperties("S0")}), Error);
  EXPECT_THROW(make({.shape = {4}, .grid = grid, .properties = parseProperties("S0,S1")}), Error);
  EXPECT_THROW(make({.shape = {-4}, .grid = grid, .properties = parseProperties("B,B")}), Error);
  EXPECT_THROW(make({.shape = {}, .grid = grid, .properties = parseProperties("B,B")}), Error);
  EXPECT_THROW(
      make(
          {.shape = {4}, .grid = grid, .properties = parseProperties("S0,B"), .cuts = {{0, 5, 4}}}),
      Error);
  EXPECT_THROW(
      make(
          {.shape = {4}, .grid = grid, .properties = parseProperties("S0,B"), .cuts = {{0, 2, 3}}}),
      Error);
  EXPECT_THROW(
      make({.shape = {4}, .grid = grid, .properties = parseProperties("S0,B"), .splitAxes = {{1}}}),
      Error);
  EXPECT_THROW(make({.shape = {4},
                     .grid = grid,
                     .properties = parseProperties("S0,B"),
                     .halos = {Halo{{{0, 1}}}}}),
               Error);
}

TEST(Properties, RoundTripAndNameTheBadWord) {
  EXPECT_EQ(describe(parseProperties(" S0, B,P ,R")), "S0,B,P,R");
  EXPECT_TRUE(parseProperties("").empty());
  try {
    parseProperties("S0,X");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), TENON_ERR_LAYOUT);
    EXPECT_NE(error.text().find("'X'"), std::string::npos);
  }
  EXPECT_THROW(parseProperties("S"), Error);
  EXPECT_THROW(parseProperties("S-1"), Error);
  EXPECT_THROW(parseProperties("B,"), Error);
}

TEST(FromBoxes, FindsGridCutsAndRankOrder) {
  // A 2 x 2 grid held in the order 3, 0, 2, 1, with rank 4 empty and uneven cuts.
  const std::vector<Box> boxes = {
      {{0, 3}, {2, 7}}, {{3, 4}, {2, 7}}, {{3, 4}, {0, 2}}, {{0, 3}, {0, 2}}, {{0, 0}, {0, 0}}};
  const Layout layout = layoutFromBoxes(boxes);
  EXPECT_EQ(layout.shape(), (Shape{4, 7}));
  for (int r = 0; r < 4; ++r)
    EXPECT_EQ(layout.boxOfRank(r), boxes[r]);
  EXPECT_EQ(layout.grid().position(4), -1);
}

void expectFault(const std::vector<Box>& boxes, const std::optional<Shape>& shape,
                 std::initializer_list<const char*> words) {
  expectError(TENON_ERR_LAYOUT, words, [&] { layoutFromBoxes(boxes, shape); });
}

TEST(FromBoxes, NamesBothRanksOfAnOverlap) {
  expectFault({{{0, 2}}, {{1, 4}}}, {},
              {"ranks 0 and 1 overlap: [0,2) and [1,4)", "contain [1,2)"});
  expectFault({{{0, 2}}, {{0, 2}}}, {}, {"ranks 0 and 1 overlap"});
  expectFault({{{3, 6}, {0, 4}}, {{0, 3}, {0, 4}}, {{0, 3}, {4, 6}}, {{2, 6}, {4, 6}}}, {},
              {"ranks 2 and 3 overlap: [0,3) x [4,6) and [2,6) x [4,6)", "contain [2,3) x [4,6)"});
}

TEST(FromBoxes, NamesTheRangeThatNobodyHoldsAndTheNearestRank) {
  expectFault({{{0, 2}}, {{3, 4}}}, {},
              {"no rank holds [2,3) of the shape [4]", "[0,2) on rank 0"});
  expectFault({{{0, 2}}, {{2, 4}}}, Shape{5}, {"no rank holds [4,5)", "[2,4) on rank 1"});
  const std::vector<Box> rows = {
      {{0, 3}, {0, 4}}, {{0, 3}, {4, 6}}, {{3, 5}, {0, 4}}, {{3, 5}, {4, 6}}};
  EXPECT_EQ(layoutFromBoxes(rows).shape(), (Shape{5, 6}));
  EXPECT_EQ(layoutFromBoxes(rows, Shape{5, 6}), layoutFromBoxes(rows));
  expectFault(rows, Shape{6, 6}, {"no rank holds [5,6) x", "of the shape [6,6]", "on rank 2"});
  std::vector<Box> oneShort = rows; // the last box alone
  oneShort[2][0].end = 6;
  for (const std::optional<Shape>& shape :
       {std::optional<Shape>(), std::optional<Shape>(Shape{6, 6})})
    expectFault(oneShort, shape,
                {"no rank holds [5,6) x [4,6)", "the nearest box is [3,5) x [4,6) on rank 3"});
}

TEST(FromBoxes, NamesTheBoxThatLeavesTheShape) {
  expectFault({{{1, 2}}, {{2, 4}}}, {},
              {"begin at 1 in dimension 0", "rank 0 holds [1,2)", "begin at 0"});
  expectFault({{{0, 2}}, {{2, 4}}}, Shape{3}, {"box of rank 1, [2,4)", "past the shape [3]"});
  expectFault({{{0, 2}}, {{-1, 0}}}, {}, {"begin at -1", "rank 1"});
  expectFault({{{0, 0}}, {{0, 0}}}, {},
              {"every rank's box is empty in dimension 0", "high is excluded"});
  expectFault({{{0, 2}, {3, 3}}, {{0, 0}, {0, 2}}}, {}, {"every rank's box is empty, so"});
  expectFault({{{0, 2}, {3, 3}}, {{2, 4}, {2, 2}}}, {},
              {"every rank's box is empty in dimension 1"});
}

TEST(FromBoxes, NamesTwoBoxesOfABrickWall) {
  expectFault({{{0, 2}, {0, 4}}, {{2, 4}, {0, 1}}, {{2, 4}, {1, 4}}}, Shape{4, 4},
              {"dimension 1", "rank 2, [2,4) x [1,4), begins at 1", "rank 0, [0,2) x [0,4)"});
}

// The cuts of these boxes would make a grid of 200^8 (about 2^61) cells, too many to be visited one
// by one.
TEST(FromBoxes, OfADiagonalAreRefusedAtOnce) {
  std::vector<Box> boxes;
  for (Index r = 0; r < 200; ++r)
    boxes.push_back(Box(8, Interval{r, r + 1}));
  expectFault(boxes, {}, {"no rank holds", "of the shape [200,200,200,200,200,200,200,200]"});
}

// The boxes of 65,536 ranks, which no numbering of a grid's axes produces in this order. Dimensions
// 2, 3 and 4 are split in 64, 32 and 32 parts of 2 elements; every box has all of dimensions 0 and
// 1.
std::vector<Box> manyBoxes() {
  std::vector<Box> boxes(65536);
  for (Index place = 0; place < 65536; ++place) {
    const Index at[3] = {place / 1024, place / 32 % 32, place % 32};
    Box& box = boxes[(place * 40503 + 7) % 65536]; // each once, as 40503 is odd
    box = {{0, 4}, {0, 3}};
    for (Index i : at)
      box.push_back({2 * i, 2 * i + 2});
  }
  return boxes;
}

// A comparison of each box with each other one would be 2 * 10^9 for each of these faults.
TEST(FromBoxes, OneWrongBoxOfManyIsFound) {
  const std::vector<Box> boxes = manyBoxes();
  EXPECT_EQ(layoutFromBoxes(boxes).shape(), (Shape{4, 3, 128, 64, 64}));
  const auto rankOf = [&](Index i, Index j, Index k) {
    return static_cast<std::size_t>(((i * 1024 + j * 32 + k) * 40503 + 7) % 65536);
  };
  const std::size_t bad = rankOf(40, 20, 9), next = rankOf(41, 20, 9);
  std::vector<Box> wrong = boxes;
  wrong[bad][2].end += 1;
  const auto [a, b] = std::minmax(bad, next);
  expectFault(wrong, {},
              {fmt::format("the boxes of ranks {} and {} overlap: ", a, b).c_str(),
               "both contain [0,4) x [0,3) x [82,83) x [40,42) x [18,20)"});
  wrong = boxes;
  wrong[bad][4].begin += 1;
  expectFault(wrong, {},
              {"no rank holds [0,4) x [0,3) x [80,82) x [40,42) x [18,19) of the shape "
               "[4,3,128,64,64]; the nearest box is [0,4) x [0,3) x [80,82) x [40,42) x [19,20) "
               "on rank",
               std::to_string(bad).c_str()});
  // Two neighbours that meet elsewhere than the others do: every element is held once.
  wrong = boxes;
  wrong[bad][2].end -= 1;
  wrong[next][2].begin -= 1;
  expectFault(wrong, {},
              {"do not form a Cartesian grid: in dimension 2",
               fmt::format("rank {}, [0,4) x [0,3) x [81,84)", next).c_str()});
  // A rank that passes the whole tensor as its box.
  wrong = boxes;
  wrong[bad] = {{0, 4}, {0, 3}, {0, 128}, {0, 64}, {0, 64}};
  expectFault(wrong, {}, {fmt::format("ranks 0 and {} overlap", bad).c_str()});
}

// The fault that is reported agrees with the number of owners of each element.
TEST(FromBoxes, FaultsOfRandomBoxesAgreeWithACountOfElements) {
  std::mt19937 random(5);
  const auto below = [&](Index n) { return static_cast<Index>(random() % n); };
  int overlaps = 0, gaps = 0, others = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    // Three by two parts, of which up to two ends are moved.
    std::vector<Box> boxes;
    for (Index place = 0; place < 6; ++place)
      boxes.push_back(
          {{2 * (place / 2), 2 * (place / 2) + 2}, {3 * (place % 2), 3 * (place % 2) + 3}});
    for (Index moves = below(3); moves-- > 0;) {
      Interval& side = boxes[below(6)][below(2)];
      (below(2) ? side.begin : side.end) += below(3) - 1;
    }
    Index held[6][6] = {};
    bool isWithin = true;
    for (const Box& box : boxes)
      for (Index i = box[0].begin; i < box[0].end; ++i)
        for (Index j = box[1].begin; j < box[1].end; ++j)
          if (const bool isIn = i >= 0 && i < 6 && j >= 0 && j < 6; isIn)
            ++held[i][j];
          else
            isWithin = false;
    Index most = 0, least = 6;
    for (const auto& row : held)
      for (Index count : row) {
        most = std::max(most, count);
        least = std::min(least, count);
      }
    if (!isWithin)
      continue;
    std::string text;
    try {
      layoutFromBoxes(boxes, Shape{6, 6});
    } catch (const Error& error) {
      text = error.text();
    }
    const bool saysOverlap = text.find("overlap") != std::string::npos;
    const bool saysGap = text.find("no rank holds") != std::string::npos ||
                         text.find("the boxes begin at") != std::string::npos;
    EXPECT_EQ(saysOverlap || saysGap, most > 1 || least < 1) << text;
    EXPECT_TRUE(!saysOverlap || most > 1) << text;
    EXPECT_TRUE(!saysGap || least < 1) << text;
    // Overlaps are reported before gaps, except that boxes must begin at 0, which is checked first.
    EXPECT_TRUE(saysOverlap || most < 2 || text.find("boxes begin at") != std::string::npos)
        << text;
    ++(saysOverlap ? overlaps : saysGap ? gaps : others);
  }
  EXPECT_GT(std::min({overlaps, gaps, others}), 50);
}

// Between two grids a tensor moves without halos: the source's halo is dropped on the source's grid
// first, and the target's is filled on the target's grid last.
TEST(Stops, AreWithoutHalosBetweenGrids) {
  const auto layouts = [](const GridPtr& grid, const char* properties) {
    LayoutSpec spec{.shape = {8}, .grid = grid, .properties = parseProperties(properties)};
    const Layout plain(spec);
    spec.halos = {Halo{.boxes = {{0, 5}, {3, 8}}}};
    return std::pair(plain, Layout(spec));
  };
  const auto [plain, halo] = layouts(Grid::make({2}), "S0");
  const auto [thatPlain, thatHalo] = layouts(Grid::make({1, 2}, {1, 0}), "B,S0");
  using Stops = std::vector<Layout>;
  EXPECT_TRUE(stopsBetween(halo, halo).empty());
  EXPECT_TRUE(stopsBetween(plain, halo) == Stops{halo});
  EXPECT_TRUE(stopsBetween(plain, thatPlain) == Stops{thatPlain});
  EXPECT_TRUE(stopsBetween(plain, thatHalo) == (Stops{thatPlain, thatHalo}));
  EXPECT_TRUE(stopsBetween(halo, thatHalo) == (Stops{plain, thatPlain, thatHalo}));
}

} // namespace
} // namespace tenon
