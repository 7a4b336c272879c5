// SPDX-License-Identifier: BSD-2-Clause
// Tests the merging of grid axes that a conversion treats alike: for random pairs of layouts every
// rank has the same messages on the grid of fewer axes as on the original one. Also tests nested
// cuts against their definition.
#include "geometry/schedule/axis_change.hpp"

#include "geometry/layout/cuts.hpp"
#include "geometry/schedule/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace tenon {
namespace {

class Draw {
public:
  explicit Draw(unsigned seed) : random_(seed) {}
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  // Up to six axes of two or three, so that neighbours often are alike.
  GridPtr grid() {
    std::vector<int> extents(1 + below(6));
    for (int& extent : extents)
      extent = below(4) > 0 ? 2 : 3;
    std::vector<int> ranks(std::accumulate(extents.begin(), extents.end(), 1, std::multiplies<>()));
    std::iota(ranks.begin(), ranks.end(), 0);
    if (below(2) > 0)
      std::shuffle(ranks.begin(), ranks.end(), random_);
    return Grid::make(extents, ranks);
  }

  Layout layout(const Shape& shape, const GridPtr& grid) {
    LayoutSpec spec{.shape = shape, .grid = grid, .properties = {}};
    spec.splitAxes.resize(shape.size());
    for (int axis = 0; axis < grid->axes(); ++axis) {
      const bool likeBefore = axis > 0 && below(2) > 0;
      spec.properties.push_back(likeBefore ? spec.properties.back() : property(shape.size()));
      if (const Property& p = spec.properties.back(); p.isShard())
        spec.splitAxes[p.dim].push_back(axis);
    }
    for (auto& order : spec.splitAxes)
      if (below(2) > 0)
        std::reverse(order.begin(), order.end());
    return below(3) > 0 ? Layout(spec) : withOwnCuts(Layout(spec));
  }

private:
  Property property(std::size_t dims) {
    const int kind = below(static_cast<int>(dims) + 3) - static_cast<int>(dims);
    return kind < 0    ? Property::shard(kind + static_cast<int>(dims))
           : kind == 0 ? Property::broadcast()
           : kind == 1 ? Property::partial()
                       : Property::root();
  }
  Layout withOwnCuts(const Layout& layout) {
    LayoutSpec spec = layout.spec();
    for (std::size_t d = 0; d < spec.shape.size(); ++d) {
      for (std::size_t i = 1; i + 1 < spec.cuts[d].size(); ++i)
        spec.cuts[d][i] = below(static_cast<int>(spec.shape[d]) + 1);
      std::sort(spec.cuts[d].begin(), spec.cuts[d].end());
    }
    return Layout(spec);
  }

  std::mt19937 random_;
};

// Peers are listed by their position in the grid. If merged axes split a dimension in reverse
// order, the positions change, so the lists are compared in the order of ranks.
std::vector<Transfer> byRank(std::vector<Transfer> transfers) {
  std::ranges::sort(transfers, {}, &Transfer::peer);
  return transfers;
}

void expectSame(const std::vector<Transfer>& a, const std::vector<Transfer>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].peer, b[i].peer);
    ASSERT_EQ(a[i].elements, b[i].elements);
    ASSERT_EQ(a[i].blocks.size(), b[i].blocks.size());
    for (std::size_t k = 0; k < a[i].blocks.size(); ++k) {
      ASSERT_EQ(a[i].blocks[k].extent, b[i].blocks[k].extent);
      ASSERT_EQ(a[i].blocks[k].sourceBegin, b[i].blocks[k].sourceBegin);
      ASSERT_EQ(a[i].blocks[k].targetBegin, b[i].blocks[k].targetBegin);
    }
  }
}

TEST(AxisMerge, KeepsEverySchedule) {
  int fewer = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    Draw draw(seed);
    const GridPtr grid = draw.grid();
    const Shape shape = {1 + draw.below(9), 1 + draw.below(9), 1 + draw.below(5)};
    const Layout from = draw.layout(shape, grid), to = draw.layout(shape, grid);
    const AxisMerge merge(from, to);
    const Layout a = merge.merged(from), b = merge.merged(to);
    fewer += merge.grid().axes() < grid->axes();
    ASSERT_EQ(merge.unmerged(a), from);
    ASSERT_EQ(merge.unmerged(b), to);
    for (int rank = 0; rank < grid->size(); rank += 1 + grid->size() / 8) { // at most 8 ranks
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", rank " << rank << ": "
                                      << from.describe() << " -> " << to.describe());
      const Schedule plain = makeSchedule(from, to, rank), merged = makeSchedule(a, b, rank);
      ASSERT_NO_FATAL_FAILURE(expectSame(byRank(plain.sends), byRank(merged.sends)));
      ASSERT_NO_FATAL_FAILURE(expectSame(byRank(plain.receives), byRank(merged.receives)));
      ASSERT_EQ(plain.sourceExtent, merged.sourceExtent);
      ASSERT_EQ(plain.targetExtent, merged.targetExtent);
      ASSERT_EQ(plain.sumsOnReceipt, merged.sumsOnReceipt);
      ASSERT_EQ(plain.sumsOnTranspose, merged.sumsOnTranspose);
    }
  }
  EXPECT_GT(fewer, 100); // of 300; a merge that changes nothing would pass the rest
}

TEST(AxisMerge, JoinsAxesThatAreEqualInBothLayouts) {
  const GridPtr grid = Grid::make({2, 3, 2, 2});
  const auto on = [&](const char* properties) {
    return Layout({.shape = {24}, .grid = grid, .properties = parseProperties(properties)});
  };
  EXPECT_EQ(AxisMerge(on("P,P,P,P"), on("B,B,B,B")).grid().extents(), std::vector<int>{24});
  EXPECT_EQ(AxisMerge(on("P,P,S0,S0"), on("B,B,B,S0")).grid().extents(),
            (std::vector<int>{6, 2, 2}));
  // Two axes that are alike are merged even if another axis is between them. The first of them is
  // the slower one in the merged axis.
  const AxisMerge apart(on("P,B,P,B"), on("B,B,B,B"));
  EXPECT_EQ(apart.grid().extents(), (std::vector<int>{4, 6}));
  EXPECT_EQ(apart.axesOf(0), (std::vector<int>{0, 2}));
}

// The expected cuts follow the definition: each part of one level is cut in balanced pieces at the
// next level.
TEST(Cuts, NestedOnesAreBalancedInEachPart) {
  for (Index extent : {0, 1, 7, 100, 1001})
    for (const std::vector<int>& parts :
         {std::vector<int>{}, {1}, {7}, {2, 3}, {3, 1, 4}, {5, 5, 2}}) {
      std::vector<Index> expected = {0, extent};
      for (int n : parts) {
        std::vector<Index> finer = {0};
        for (std::size_t i = 0; i + 1 < expected.size(); ++i)
          for (int j = 1; j <= n; ++j)
            finer.push_back(expected[i] + balancedCuts(expected[i + 1] - expected[i], n)[j]);
        expected = finer;
      }
      EXPECT_EQ(nestedCuts(extent, parts), expected);
    }
  EXPECT_EQ(nestedCuts(100000, {100000}), balancedCuts(100000, 100000)); // in linear time
}

} // namespace
} // namespace tenon
