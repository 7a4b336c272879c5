// SPDX-License-Identifier: BSD-2-Clause
// Layers on the tiles of a box, some of which are missing (land): convolutions, poolings,
// transposed convolutions, a U-Net and batch normalisation. The independent values are those of the
// same layer on the whole box, without patches (BoxComparison).
#include "patches.hpp"
#include "support/draws.hpp"

namespace tenon {
namespace {

using test::draws;
using test::gathered;
using test::LayoutDraw;
using test::world;
using test::patches::fillParameters;
using test::patches::fillWith;
using test::patches::integerAt;
using test::patches::transposed;

// A box that is divided into tiles. Some tiles are land, that is, missing; the others are patches,
// which are distributed over the ranks at random. A place is the number of a tile in row-major
// order, and differs from the number of its patch.
struct Tiling {
  Shape tiles;                // number of tiles by dimension
  Shape extents;              // elements of a tile
  Shape box;                  // elements of the box
  std::vector<BoxEnds> ends;  // boundary modes of the box
  std::vector<Index> placeOf; // of each patch
  PatchLinksPtr links;

  // Draws a box whose tiles have extents that are multiples of `multiple`.
  Tiling(LayoutDraw& draw, int spatial, Index multiple, int landPercent) {
    constexpr Boundary kModes[] = {Boundary::Zero,      Boundary::Periodic,  Boundary::Reflect,
                                   Boundary::Replicate, Boundary::Symmetric, Boundary::Odd,
                                   Boundary::OddPoint};
    for (int s = 0; s < spatial; ++s) {
      tiles.push_back(draw.between(1, spatial == 3 ? 2 : 4));
      extents.push_back(multiple * draw.between(1, spatial == 3 ? 2 : 3));
      box.push_back(tiles[s] * extents[s]);
      const Boundary low = kModes[draw.upTo(6)];
      const bool isPeriodic = low == Boundary::Periodic;
      ends.push_back({low, isPeriodic || draw.chance(50) ? low : kModes[draw.upTo(6)]});
      if (ends.back().high == Boundary::Periodic)
        ends.back().low = Boundary::Periodic;
    }
    std::vector<std::vector<Index>> places(static_cast<std::size_t>(world()->size()));
    for (Index place = 0; place < elements(tiles); ++place)
      if (!draw.chance(landPercent))
        places[draw.upTo(world()->size() - 1)].push_back(place);
    for (std::vector<Index>& list : places) {
      if (draw.chance(50))
        std::ranges::reverse(list);
      placeOf.insert(placeOf.end(), list.begin(), list.end());
    }
    links = linkTiles(tiles, places, ends);
  }
  bool isLand(Index place) const { return std::ranges::find(placeOf, place) == placeOf.end(); }

  Layout layout(Index channels, Shape extent) const {
    extent.insert(extent.begin(), channels);
    return rowsLayout(links->pattern(), extent);
  }
  // The index in the box of an element of a patch. `extent` are the elements of a tile, which are
  // fewer after a pooling.
  std::vector<Index> inBox(const std::vector<Index>& index, const Shape& extent) const {
    std::vector<Index> at = index;
    const std::vector<Index> place = unflattened(placeOf[index[0]], tiles);
    at[0] = 0;
    for (std::size_t s = 0; s < tiles.size(); ++s)
      at[s + 2] += place[s] * extent[s];
    return at;
  }
};

// Runs a layer on the tiles and the same layer on the box, and compares output, input's cotangent
// and gradients of the parameters.
class BoxComparison {
public:
  BoxComparison(const Tiling& tiling, Index channels, TenonDataType type, double tolerance = 0)
      : tiling_(tiling), type_(type), channels_(channels), tolerance_(tolerance) {}

  void run(const Ref<Layer>& onTiles, const Ref<Layer>& onBox, const std::string& what) {
    onTiles->setLinks(tiling_.links);
    Shape shape = tiling_.box;
    shape.insert(shape.begin(), {1, channels_});
    test::Step tiles(onTiles, tiling_.layout(channels_, tiling_.extents), type_);
    test::Step box(onBox, test::onWorld(shape, "B"), type_);
    fill(tiles, box);
    fillParameters(*onTiles);
    fillParameters(*onBox);
    tiles.apply();
    box.apply();
    fillCotangents(tiles, box);
    tiles.adjoint();
    box.adjoint();
    ASSERT_NO_FATAL_FAILURE(compare(*tiles.y, *box.y, what + ", output"));
    ASSERT_NO_FATAL_FAILURE(compare(*tiles.dx, *box.dx, what + ", input's cotangent"));
    const auto p = onTiles->parameters(), q = onBox->parameters();
    ASSERT_EQ(p.size(), q.size());
    for (std::size_t i = 0; i < p.size(); ++i)
      ASSERT_NO_FATAL_FAILURE(test::expectNear(gathered(*p[i]->reducedGradient()),
                                               gathered(*q[i]->reducedGradient()), tolerance_,
                                               what + ", gradient of " + p[i]->name()));
  }

private:
  Shape tileExtents(const DTensor& x) const {
    const Shape& shape = x.layout().shape();
    return {shape.begin() + 2, shape.end()};
  }
  // Zero on land.
  void fillBoth(DTensor& tiles, DTensor& box, Index kind) const {
    const Shape whole = box.layout().shape(), extent = tileExtents(tiles);
    fillWith(box, [&](const std::vector<Index>& index) {
      std::vector<Index> place;
      for (std::size_t s = 0; s < extent.size(); ++s)
        place.push_back(index[s + 2] / extent[s]);
      return tiling_.isLand(flattened(place.data(), tiling_.tiles))
                 ? 0
                 : integerAt(kind, flattened(index.data(), whole));
    });
    fillWith(tiles, [&](const std::vector<Index>& index) {
      return integerAt(kind, flattened(tiling_.inBox(index, extent).data(), whole));
    });
  }
  void fill(test::Step& tiles, test::Step& box) const { fillBoth(*tiles.x, *box.x, 1); }
  void fillCotangents(test::Step& tiles, test::Step& box) const {
    fillBoth(*tiles.dy, *box.dy, 2);
    // A cotangent of partial sums has its values on the first rank and zeros on the others.
    if (box.dy->layout().holdsPartialSums() && world()->rank() != 0)
      fillConstant(*box.dy, 0);
  }
  void compare(const DTensor& tiles, const DTensor& box, const std::string& what) const {
    const std::vector<double> got = gathered(tiles), want = gathered(box);
    const Shape& shape = tiles.layout().shape();
    std::vector<double> wantInTiles;
    for (Index i = 0; i < elements(shape); ++i) {
      const std::vector<Index> at = tiling_.inBox(unflattened(i, shape), tileExtents(tiles));
      wantInTiles.push_back(want[flattened(at.data(), box.layout().shape())]);
    }
    test::expectNear(got, wantInTiles, tolerance_, what);
  }

  const Tiling& tiling_;
  TenonDataType type_;
  Index channels_;
  double tolerance_;
};

// Random windows whose outputs on a tile are those of the box: the stride divides the extent of a
// tile, and the padding makes the first window of a tile follow the last one of the previous tile.
std::vector<Window> drawWindows(LayoutDraw& draw, const Tiling& tiling, bool pooling) {
  std::vector<Window> windows;
  for (Index extent : tiling.extents) {
    // A power of two for poolings, because means of so many integers are exact.
    Window w{.kernel = pooling ? Index(1) << draw.upTo(2) : draw.between(1, 4),
             .stride = extent % 2 == 0 && draw.chance(40) ? 2 : 1};
    w.dilation = draw.chance(75) ? 1 : 2;
    const Index padding = w.reach() - w.stride;
    w.padLow = padding < 0 ? padding : pooling ? padding / 2 : draw.between(0, int(padding));
    w.padHigh = padding - w.padLow;
    windows.push_back(w);
  }
  return windows;
}

// The windows with linked sides, for the tiles, or with the boundary modes of the box.
std::vector<Window> withModes(std::vector<Window> windows, const Tiling& tiling, bool linked) {
  for (std::size_t s = 0; s < windows.size(); ++s) {
    windows[s].lowMode = linked ? Boundary::Linked : tiling.ends[s].low;
    windows[s].highMode = linked ? Boundary::Linked : tiling.ends[s].high;
  }
  return windows;
}

TEST(Patches, ConvolutionsAndPoolingsOnTilesAreThoseOnTheBox) {
  for (int i = 0; i < draws(60); ++i) {
    LayoutDraw draw(4100 + static_cast<unsigned>(i));
    const int spatial = draw.chance(15) ? 3 : draw.between(1, 2);
    const bool pooling = draw.chance(30);
    const Tiling tiling(draw, spatial, 2, draw.chance(40) ? 25 : 0);
    if (tiling.placeOf.empty())
      continue;
    const std::vector<Window> windows = drawWindows(draw, tiling, pooling);
    const auto mode = static_cast<PoolingMode>(draw.upTo(1));
    const bool inPieces = !pooling && draw.chance(40);
    const auto make = [&](bool linked) {
      const std::vector<Window> all = withModes(windows, tiling, linked);
      const auto layer =
          pooling ? test::newPooling(world(), mode, all) : test::newConv(world(), 2, 3, all);
      if (linked && inPieces)
        layer->setText("overlap", "on");
      return layer;
    };
    BoxComparison(tiling, 2, draw.chance(70) ? TENON_FLOAT64 : TENON_FLOAT32)
        .run(make(true), make(false), "case " + std::to_string(i));
    if (HasFatalFailure())
      return;
  }
}

// In a dimension with a single tile no patch meets another, so each channel can have a boundary
// mode of its own there.
TEST(Patches, LinkedSidesStandBesideModesByChannel) {
  int compared = 0;
  for (unsigned i = 0; compared < draws(6) && i < 400; ++i) {
    LayoutDraw draw(4400 + i);
    const Tiling tiling(draw, 2, 1, 0);
    if (tiling.placeOf.empty() || tiling.tiles[1] > 1 || tiling.ends[1].low == Boundary::Periodic)
      continue;
    const Window same{.kernel = 3, .padLow = 1, .padHigh = 1};
    const std::string ends =
        fmt::format("{}/{}", boundaryName(tiling.ends[0].low), boundaryName(tiling.ends[0].high));
    const auto make = [&](const std::string& first) {
      const auto conv = test::newConv(world(), 2, 3, {same, same});
      conv->setText("boundary", fmt::format("{0},replicate; {0},odd/zero", first));
      return conv;
    };
    BoxComparison(tiling, 2, TENON_FLOAT64).run(make("linked"), make(ends), std::to_string(i));
    if (HasFatalFailure())
      return;
    ++compared;
  }
  EXPECT_EQ(compared, draws(6));
  const auto conv = test::newConv(world(), 2, 3, std::vector<Window>(2, {.kernel = 3}));
  try {
    conv->setText("boundary", "linked,zero; odd,zero");
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(error.text().find("linked for some channels in spatial dimension 0"),
              std::string::npos)
        << error.text();
  }
}

TEST(Patches, TransposedConvolutionsOnTilesAreThoseOnTheBox) {
  for (int i = 0; i < draws(30); ++i) {
    LayoutDraw draw(4700 + static_cast<unsigned>(i));
    const Tiling tiling(draw, draw.between(1, 2), 1, draw.chance(40) ? 25 : 0);
    if (tiling.placeOf.empty())
      continue;
    std::vector<Window> windows;
    for (std::size_t s = 0; s < tiling.extents.size(); ++s) {
      Window w{.kernel = draw.between(1, 4), .stride = draw.between(1, 2)};
      if (w.kernel < w.stride)
        w.kernel = w.stride;
      w.padLow = draw.between(0, int(w.reach() - w.stride));
      w.padHigh = w.reach() - w.stride - w.padLow;
      windows.push_back(w);
    }
    const auto make = [&](bool linked) {
      return transposed(2, 3, withModes(windows, tiling, linked));
    };
    BoxComparison(tiling, 2, TENON_FLOAT64)
        .run(make(true), make(false), "case " + std::to_string(i));
    if (HasFatalFailure())
      return;
  }
}

// A U-Net of one level: convolution, pooling, convolution, transposed convolution, and a
// concatenation with the output of the first convolution.
Ref<Layer> uNet(const Tiling& tiling, bool linked) {
  const auto windows = [&](Window window) {
    return withModes(std::vector<Window>(tiling.tiles.size(), window), tiling, linked);
  };
  const Window same{.kernel = 3, .padLow = 1, .padHigh = 1}, half{.kernel = 2, .stride = 2},
      wide{.kernel = 4, .stride = 2, .padLow = 1, .padHigh = 1};
  const auto net = test::newLayer(world(), "graph");
  const int left = addGraphNode(*net, test::newConv(world(), 1, 2, windows(same)), {-1});
  const int active = addGraphNode(*net, test::newPointwise(world(), "relu"), {left});
  const int pooled =
      addGraphNode(*net, test::newPooling(world(), PoolingMode::Max, windows(half)), {active});
  const int valley = addGraphNode(*net, test::newConv(world(), 2, 2, windows(same)), {pooled});
  const int up = addGraphNode(*net, transposed(2, 2, windows(wide)), {valley});
  const int both = addGraphNode(*net, test::newConcatenate(world(), 1), {active, up});
  addGraphNode(*net, test::newConv(world(), 4, 1, windows(same)), {both});
  return net;
}

TEST(Patches, AUNetOverTilesIsTheUNetOverTheBox) {
  for (int i = 0; i < draws(10); ++i) {
    LayoutDraw draw(5200 + static_cast<unsigned>(i));
    const Tiling tiling(draw, 2, 2, 0);
    BoxComparison(tiling, 1, TENON_FLOAT64)
        .run(uNet(tiling, /*linked=*/true), uNet(tiling, /*linked=*/false),
             "case " + std::to_string(i));
    if (HasFatalFailure())
      return;
  }
}

// Means and moments are sums over all tiles, in another order than over the box; hence a tolerance.
TEST(Patches, BatchNormalisationOverTilesIsThatOverTheBox) {
  for (int i = 0; i < draws(8); ++i) {
    LayoutDraw draw(5500 + static_cast<unsigned>(i));
    const Tiling tiling(draw, 2, 2, 0);
    const auto make = [&](bool linked) {
      const Window same{.kernel = 3, .padLow = 1, .padHigh = 1};
      const std::vector<Window> windows = withModes({same, same}, tiling, linked);
      const auto net = test::newLayer(world(), "sequential"),
                 norm = test::newLayer(world(), "batchnorm");
      norm->set("channels", Index(3));
      appendLayer(*net, test::newConv(world(), 1, 3, windows));
      appendLayer(*net, norm);
      appendLayer(*net, test::newConv(world(), 3, 2, windows));
      return net;
    };
    BoxComparison(tiling, 1, TENON_FLOAT64, 1e-12)
        .run(make(true), make(false), "case " + std::to_string(i));
    if (HasFatalFailure())
      return;
  }
}

} // namespace
} // namespace tenon
