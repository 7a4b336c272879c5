// SPDX-License-Identifier: BSD-2-Clause
// Tests links of patches, without MPI: for random tiles the list that each rank sends is the list
// that its peer receives; for patches that meet rotated, in all eight ways, and for folds, the
// linked elements are computed by rotating or mirroring indices.
#include "geometry/patches/patch_links.hpp"
#include "support/random_layout.hpp"
#include "sys/errors/error.hpp"
#include "sys/expect_error.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <map>
#include <numeric>

namespace tenon {
namespace {

using test::LayoutDraw;

// The elements of a message in their order: source and target positions of each block in turn.
std::vector<std::vector<Index>> entriesOf(const Transfer& transfer) {
  std::vector<std::vector<Index>> entries;
  for (const ElementBlock& block : transfer.blocks)
    if (block.sourceList)
      entries.insert(entries.end(), {block.sourceList->positions, block.targetList->positions});
    else
      entries.insert(entries.end(), {block.sourceBegin, block.targetBegin});
  return entries;
}

// Layouts of random tiles with some land (15 %), on a process grid that can split channels and
// space too; the target has halos beyond the tiles, of one width below and widths from 0 to 2
// above.
TEST(PatchLinks, BothEndsOfAMessageHaveOneList) {
  Index messages = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    LayoutDraw draw(900 + seed);
    const int ranks = draw.between(1, 12);
    const Shape tiles = {draw.between(1, 3), draw.between(1, 4)},
                extents = {draw.between(1, 4), draw.between(1, 4)};
    std::vector<std::vector<Index>> places(static_cast<std::size_t>(ranks));
    for (Index place = 0; place < elements(tiles); ++place)
      if (draw.chance(85))
        places[draw.upTo(ranks - 1)].push_back(place);
    const std::vector<BoxEnds> ends = {{Boundary::Periodic, Boundary::Periodic},
                                       {Boundary::Reflect, Boundary::Replicate}};
    const PatchLinksPtr links = linkTiles(tiles, places, ends);
    const GridPtr grid = draw.grid(ranks, 3);
    LayoutSpec spec{
        .shape = {links->patches(), 3, extents[0], extents[1]}, .grid = grid, .properties = {}};
    for (int axis = 0; axis < grid->axes(); ++axis)
      spec.properties.push_back(draw.chance(20) ? Property::broadcast()
                                                : Property::shard(draw.upTo(3)));
    const Layout from(spec);
    LayoutSpec wide = from.spec();
    const Index width = draw.between(1, 5);
    for (int d = 2; d < 4; ++d) {
      Halo halo{.boxes = {}, .low = Boundary::Linked, .high = Boundary::Linked};
      for (int part = 0; part < from.parts(d); ++part) {
        const Interval own = from.owned(d, part);
        halo.boxes.push_back({own.begin - width, own.end + draw.between(0, 2)});
      }
      wide.halos[d] = halo;
    }
    const Layout to(std::move(wide));
    PatchRule rule{links};
    if (draw.chance(50))
      rule.vectors = {2, 0};
    std::map<std::pair<int, int>, std::vector<std::vector<Index>>> sent, received;
    for (int rank = 0; rank < ranks; ++rank) {
      const Schedule schedule = makeLinkedMap(rule, from, to, rank)->schedule(from, to, rank);
      for (const Transfer& transfer : schedule.sends)
        sent[{rank, transfer.peer}] = entriesOf(transfer);
      for (const Transfer& transfer : schedule.receives)
        received[{transfer.peer, rank}] = entriesOf(transfer);
    }
    ASSERT_EQ(sent, received) << "seed " << seed;
    messages += static_cast<Index>(sent.size());
  }
  EXPECT_GT(messages, 200);
}

// Two cubes of 2 x 2 x 2 meet: the upper side of the first in dimension 0 is the lower side of the
// second. For all eight ways to turn the second, the expected neighbour is found by reversing and
// swapping the two indices of the common square as the bits of `turned` say. A cube has six sides,
// in the order low 0, high 0, low 1, ...; so side 1 of patch 0 and side 0 of patch 1 meet.
TEST(PatchLinks, CubesMeetTurnedInEightWays) {
  for (int turned = 0; turned < 8; ++turned) {
    int back = turned & 4;
    for (int i = 0; i < 2; ++i)
      if (turned >> i & 1)
        back |= 1 << (turned & 4 ? 1 - i : i);
    std::vector<PatchSide> sides(12);
    sides[1] = {.patch = 1, .side = 0, .turned = turned};
    sides[6] = {.patch = 0, .side = 1, .turned = back};
    const PatchLinksPtr links = linkSides(3, {sides});
    for (Index y = 0; y < 2; ++y)
      for (Index x = 0; x < 2; ++x) {
        Index along[2] = {y, x};
        for (int i = 0; i < 2; ++i)
          if (turned >> i & 1)
            along[i] = 1 - along[i];
        if (turned & 4)
          std::swap(along[0], along[1]);
        const auto across = links->source(0, {3, y, x}, {2, 2, 2});
        ASSERT_TRUE(across);
        EXPECT_EQ(across->patch, 1);
        EXPECT_EQ(across->index, (std::vector<Index>{1, along[0], along[1]}));
        // The way back leads to the first element, and it undoes the turn of a vector's components.
        const auto home = links->source(1, {-2, along[0], along[1]}, {2, 2, 2});
        ASSERT_TRUE(home);
        EXPECT_EQ(home->index, (std::vector<Index>{0, y, x}));
        for (std::size_t d = 0; d < 3; ++d) {
          const auto acrossDim = static_cast<std::size_t>(across->dims[d]);
          EXPECT_EQ(home->dims[acrossDim], static_cast<int>(d));
          EXPECT_EQ(across->signs[d] * home->signs[acrossDim], 1);
        }
      }
    EXPECT_FALSE(links->source(0, {0, -1, 0}, {2, 2, 2}));
  }
}

// A side that meets itself is a wall. In these tests a PatchSide is written as {patch, side,
// turned}, the sides of a patch in the order low 0, high 0, low 1, high 1, and {} has no neighbour.
TEST(PatchLinks, AWallMirrorsVectors) {
  const PatchLinksPtr links = linkSides(2, {{{0, 0, 0}, {}, {}, {}}});
  const auto found = links->source(0, {-2, 1}, {3, 2});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->index, (std::vector<Index>{1, 1}));
  EXPECT_EQ(found->signs, (std::vector<int>{-1, 1}));
  EXPECT_TRUE(links->joins(0));
  EXPECT_FALSE(links->joins(1));
}

// The upper side of a periodic row of patches is folded onto itself about a point (turned has the
// bits 8, meeting on points, and 1, reversed): the last row of elements is stored once, and column
// x continues as column -x, so that column 0 meets itself.
TEST(PatchLinks, FoldsOnPointsAreMirroredAboutThem) {
  const auto row = [](int tiles) {
    std::vector<PatchSide> sides;
    for (int t = 0; t < tiles; ++t)
      sides.insert(
          sides.end(),
          {{}, {tiles - 1 - t, 1, 9}, {(t + tiles - 1) % tiles, 3, 0}, {(t + 1) % tiles, 2, 0}});
    return linkSides(2, {sides});
  };
  const PatchLinksPtr links = row(3);
  EXPECT_TRUE(links->meetOnPoints());
  for (Index x = 0; x < 12; ++x)
    for (Index depth = 0; depth < 3; ++depth) {
      const auto found = links->source(x / 4, {4 + depth, x % 4}, {4, 4});
      ASSERT_TRUE(found);
      const Index mirrored = (12 - x) % 12;
      EXPECT_EQ(found->patch, mirrored / 4) << x;
      EXPECT_EQ(found->index, (std::vector<Index>{2 - depth, mirrored % 4})) << x;
      EXPECT_EQ(found->signs, (std::vector<int>{-1, -1}));
    }
  // Element 0 of a reversed dimension meets the patch after the neighbour, so that is included.
  const std::vector<Index> around = row(7)->around({0}, {1, 0});
  EXPECT_TRUE(std::ranges::binary_search(around, 6));
  EXPECT_TRUE(std::ranges::binary_search(around, 1));
  const auto expect = [](const char* part, const std::function<void()>& call) {
    try {
      call();
      ADD_FAILURE() << "no error: " << part;
    } catch (const Error& error) {
      EXPECT_NE(error.text().find(part), std::string::npos) << error.text();
    }
  };
  expect("use at least 2 across it", [&] { links->checkExtents({1, 4}); });
  expect("joins the same side of both", [] { linkSides(2, {{{0, 1, 8}, {0, 0, 8}, {}, {}}}); });
  expect("there can be one such side", [] { linkSides(2, {{{}, {0, 1, 8}, {}, {0, 3, 8}}}); });
}

// A box may have as many tiles as an Index can count. The memory used grows only with the number of
// tiles that some rank has.
TEST(PatchLinks, TilesOfABoxLargerThanMemory) {
  const Index side = Index(1) << 30;
  const std::vector<BoxEnds> periodic(2, {Boundary::Periodic, Boundary::Periodic});
  // The tiles that ranks have: the first and the last of the box, the one after the first, and one
  // in the middle.
  const PatchLinksPtr links = linkTiles(
      {side, side}, {{0, side * side - 1}, {}, {1, side / 2 * side + side / 2}}, periodic);
  EXPECT_EQ(links->patches(), 4);
  const auto patchAt = [&](Index patch, Index row, Index column) {
    const auto found = links->source(patch, {row, column}, {4, 4});
    return found ? found->patch : -1;
  };
  EXPECT_EQ(patchAt(0, 0, 4), 2);
  EXPECT_EQ(patchAt(0, -1, -4), 1);
  EXPECT_EQ(patchAt(1, 4, 8), 2);
  EXPECT_EQ(patchAt(3, 0, 4), -1);
  EXPECT_EQ(patchAt(0, side * 2, side * 2), 3);
  EXPECT_EQ(links->around({1}, {1, 1}), (std::vector<Index>{0, 1}));
  EXPECT_EQ(links->around({1}, {1, 2}), (std::vector<Index>{0, 1, 2}));
  EXPECT_EQ(links->around({0}, {side, side / 2 - 1}), (std::vector<Index>{0, 1, 2}));
  EXPECT_EQ(links->around({0}, {side / 2, side / 2}), (std::vector<Index>{0, 1, 2, 3}));
  EXPECT_EQ(links->around({}, {side, side}), (std::vector<Index>{}));
  EXPECT_NO_THROW(links->checkExtents({4, Index(1) << 29}));
  expectError(TENON_ERR_SHAPE, {"1073741824x1073741824 tiles", "dimension 1"}, [&] {
    links->checkExtents({4, side});
  });
  // The last place, whose neighbour beyond the end is the first.
  const Index most = std::numeric_limits<Index>::max();
  const PatchLinksPtr row = linkTiles({most}, {{most - 1}, {0}}, {periodic[0]});
  EXPECT_EQ(row->around({0}, {1}), (std::vector<Index>{0, 1}));
  EXPECT_EQ(row->around({1}, {0}), (std::vector<Index>{1}));
}

// The expected tiles are found in the box itself: a tile is near if it is at most crossings[d]
// tiles away in each dimension d. The distance is also counted across the ends of the box, whatever
// their modes are.
TEST(PatchLinks, TilesAroundAreThoseWithinTheNumberOfCrossings) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    LayoutDraw draw(seed);
    const Shape tiles = {draw.between(1, 6), draw.between(1, 6)};
    std::vector<std::vector<Index>> places(3);
    for (Index place = 0; place < elements(tiles); ++place)
      if (draw.chance(60))
        places[draw.upTo(2)].push_back(place);
    const PatchLinksPtr links = linkTiles(tiles, places, std::vector<BoxEnds>(2));
    std::vector<Index> all;
    for (const std::vector<Index>& of : places)
      all.insert(all.end(), of.begin(), of.end());
    if (all.empty())
      continue;
    const std::vector<Index> crossings = {draw.upTo(4), draw.upTo(4)};
    const Index requested = draw.upTo(static_cast<int>(all.size()) - 1);
    std::vector<Index> expected;
    for (std::size_t patch = 0; patch < all.size(); ++patch) {
      bool isNear = true;
      const auto tile = unflattened(all[requested], tiles),
                 otherTile = unflattened(all[patch], tiles);
      for (std::size_t d = 0; d < 2; ++d) {
        bool isReached = false;
        for (Index step = -crossings[d]; step <= crossings[d]; ++step)
          isReached =
              isReached || ((tile[d] + step) % tiles[d] + tiles[d]) % tiles[d] == otherTile[d];
        isNear = isNear && isReached;
      }
      if (isNear)
        expected.push_back(static_cast<Index>(patch));
    }
    EXPECT_EQ(links->around({requested}, crossings), expected) << "seed " << seed;
  }
}

// One patch is its own neighbour on all sides, and the halo is many times as wide as the patch. The
// number of ways to the halo's corner grows exponentially, but all of them end at one element.
TEST(PatchLinks, ManyAndLongPathsAreFollowedOnce) {
  const PatchLinksPtr torus = linkSides(2, {{{0, 1, 0}, {0, 0, 0}, {0, 3, 0}, {0, 2, 0}}});
  const auto corner = torus->source(0, {-40, 81}, {2, 3});
  ASSERT_TRUE(corner);
  EXPECT_EQ(corner->index, (std::vector<Index>{0, 0}));
  const PatchLinksPtr ring = linkSides(1, {{{0, 1, 0}, {0, 0, 0}}});
  const auto far = ring->source(0, {-300001}, {3});
  ASSERT_TRUE(far);
  EXPECT_EQ(far->index, (std::vector<Index>{2}));
}

TEST(PatchLinks, TurnedPatchesNeedEqualExtents) {
  // The upper side in y of each patch meets the upper side in x of the other.
  const PatchLinksPtr links =
      linkSides(2, {{{}, {1, 3, 0}, {}, {1, 1, 0}, {}, {0, 3, 0}, {}, {0, 1, 0}}});
  EXPECT_NO_THROW(links->checkExtents({4, 4}));
  try {
    links->checkExtents({4, 2});
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), TENON_ERR_SHAPE);
    EXPECT_NE(error.text().find("patches have extents 4x2"), std::string::npos) << error.text();
  }
}

} // namespace
} // namespace tenon
