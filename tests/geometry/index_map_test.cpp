// SPDX-License-Identifier: BSD-2-Clause
// Tests the division of an index map's entries into blocks. No block may contain an element twice,
// and an entry is in the first block that contains neither its source nor its target. The expected
// blocks are found by testing all blocks in turn and, for lists in which one element has all 50,000
// entries, in closed form.
#include "geometry/mesh/index_map.hpp"
#include "support/random_layout.hpp"

#include <gtest/gtest.h>

#include <set>

namespace tenon {
namespace {

using test::LayoutDraw;

constexpr Index kExtent = 1 << 20;

Layout onOne() {
  return Layout({.shape = {kExtent}, .grid = Grid::make({1}), .properties = {Property::shard(0)}});
}

// The source and target positions of the entries of each block. The weight of entry i is i + 2, by
// which entries are identified.
std::vector<std::vector<std::pair<Index, Index>>> blocksOf(const std::vector<Index>& source,
                                                           const std::vector<Index>& target) {
  const Layout layout = onOne();
  IndexEntries entries{0, source, target, {}};
  for (std::size_t i = 0; i < source.size(); ++i)
    entries.weights.push_back(double(i + 2));
  const IndexMap map({.from = layout,
                      .to = layout,
                      .dims = {0},
                      .sends = {entries},
                      .receives = {entries},
                      .isUneven = true});
  const Schedule schedule = map.schedule(layout, layout, 0);
  std::vector<std::vector<std::pair<Index, Index>>> blocks;
  for (const ElementBlock& block : schedule.receives.front().blocks) {
    auto& pairs = blocks.emplace_back();
    for (Index i = 0; i < block.sourceList->count(); ++i) {
      const auto entry = static_cast<std::size_t>(block.sourceList->weights[i]) - 2;
      EXPECT_EQ(block.sourceList->positions[i], source[entry]);
      EXPECT_EQ(block.targetList->positions[i], target[entry]);
      pairs.emplace_back(source[entry], target[entry]);
    }
  }
  return blocks;
}

TEST(IndexMapBlocks, AreTheFirstWithoutAnEntrysElements) {
  std::size_t most = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    LayoutDraw draw(seed);
    // The maps range from few elements with many entries each, as in dense matrices, to many
    // elements with few.
    const int sources = draw.between(1, seed % 3 == 0 ? 3 : 150),
              targets = draw.between(1, seed % 3 == 1 ? 3 : 150), count = draw.between(1, 2500);
    const bool isDense = draw.chance(30), hasHubs = draw.chance(40);
    std::vector<Index> source, target;
    for (int i = 0; i < count; ++i) {
      source.push_back(hasHubs && draw.chance(50) ? 0
                       : isDense                  ? i % sources
                                                  : draw.upTo(sources - 1));
      target.push_back(hasHubs && draw.chance(50) ? 1000
                       : isDense                  ? i / sources
                                                  : draw.upTo(targets - 1));
    }
    std::vector<std::vector<std::pair<Index, Index>>> expected;
    std::vector<std::set<Index>> haveSource, haveTarget; // of each block
    for (int i = 0; i < count; ++i) {
      std::size_t block = 0;
      while (block < expected.size() &&
             (haveSource[block].contains(source[i]) || haveTarget[block].contains(target[i])))
        ++block;
      if (block == expected.size()) {
        expected.emplace_back();
        haveSource.emplace_back();
        haveTarget.emplace_back();
      }
      expected[block].emplace_back(source[i], target[i]);
      haveSource[block].insert(source[i]);
      haveTarget[block].insert(target[i]);
    }
    ASSERT_EQ(blocksOf(source, target), expected) << "seed " << seed;
    most = std::max(most, expected.size());
  }
  EXPECT_GT(most, 500);
}

// If all of 50,000 entries have the same source or target, each has a block of its own, in the
// order of the list.
TEST(IndexMapBlocks, OfOneElementAreAsManyAsItsEntries) {
  constexpr Index kMany = 50000;
  std::vector<Index> one(kMany, 7), all, backwards;
  for (Index i = 0; i < kMany; ++i) {
    all.push_back(i);
    backwards.push_back(kMany - 1 - i);
  }
  for (const auto& [source, target] :
       {std::pair(one, all), {all, one}, {one, one}, {backwards, one}}) {
    const auto blocks = blocksOf(source, target);
    ASSERT_EQ(blocks.size(), static_cast<std::size_t>(kMany));
    for (Index i = 0; i < kMany; ++i)
      ASSERT_TRUE(blocks[i].size() == 1 && blocks[i][0] == std::pair(source[i], target[i])) << i;
  }
}

} // namespace
} // namespace tenon
