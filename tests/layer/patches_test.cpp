// SPDX-License-Identifier: BSD-2-Clause
// Layers on patches: a tensor [patches, channels, y, x] whose patches are joined at their sides by
// links (PatchLinks), such as the tiles of a map or the faces of a cube. Independent values:
//
//   tiles of a box       the same layer on the whole box, without patches
//   faces of a cube      sums over neighbours, found from the positions of elements in space
//   tripolar grid        sums over neighbours, with the fold at the north pole written out
//   refined levels       sums over interpolated elements of the coarser level
//
// Numbers are small integers, which makes sums exact in any order, so most comparisons are exact.
// The last part tests errors.
#include "layer/derivatives/derivative_check.hpp"
#include "layer_run.hpp"
#include "linop/exchange/make_index_map.hpp"
#include "support/draws.hpp"
#include "support/finds_a_fault.hpp"

#include <array>
#include <numeric>

namespace tenon {
namespace {

using test::draws;
using test::expectErrorOnAll;
using test::gathered;
using test::LayoutDraw;
using test::tensor;
using test::world;

// A pseudo-random integer from -5 to 5, for an index `at` of an array; `kind` distinguishes arrays.
double integerAt(Index kind, Index at) {
  return double((at * 7919 + kind * 104729 + at * at * 31) % 11) - 5;
}

// Sets each element of this rank to value(global index).
void fillWith(DTensor& x, const std::function<double(const std::vector<Index>&)>& value) {
  const Box box = x.layout().boxOfRank(world()->rank());
  visitFloating(x.dataType(), [&]<class T>(T) {
    T* to = x.mutableData<T>();
    for (Index i = 0; i < elements(extents(box)); ++i) {
      std::vector<Index> index = unflattened(i, extents(box));
      for (std::size_t d = 0; d < index.size(); ++d)
        index[d] += box[d].begin;
      to[i] = static_cast<T>(value(index));
    }
  });
}

void fillParameters(Layer& layer) {
  Index kind = 100;
  for (const auto& p : layer.parameters()) {
    const Shape shape = p->value().layout().shape();
    fillWith(p->value(), [&](const std::vector<Index>& index) {
      return integerAt(kind, flattened(index.data(), shape));
    });
    p->valueChanged();
    p->zeroGradient();
    ++kind;
  }
}

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

Ref<Layer> transposed(Index in, Index out, const std::vector<Window>& windows) {
  const auto layer = test::newLayer(world(), "transposedconv");
  layer->set("in_channels", in);
  layer->set("out_channels", out);
  test::setWindows(*layer, windows);
  return layer;
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

// The element that a cell beyond a patch stands for: patch, channel, y, x, and the sign with which
// a component of a vector is read. GhostOf returns it for the index of the cell; nothing: the cell
// is 0.
struct Ghost {
  std::array<Index, 4> at;
  double sign;
};
using GhostOf = std::function<std::optional<Ghost>(const std::array<Index, 4>&)>;

// Compares a convolution with windows of 3 x 3, and its adjoint, with sums that are written out
// here: each tap of a window reads an element of the patch or, beyond it, ghostOf(index). `vectors`
// are the channels that are components of vectors.
void expectConvolution(const PatchLinksPtr& links, Index extent, std::vector<Index> vectors,
                       const GhostOf& ghostOf, const std::string& what) {
  constexpr Index kIn = 4, kOut = 2;
  const Window same{.kernel = 3,
                    .padLow = 1,
                    .padHigh = 1,
                    .lowMode = Boundary::Linked,
                    .highMode = Boundary::Linked};
  const auto conv = test::newConv(world(), kIn, kOut, {same, same});
  conv->setLinks(links);
  conv->set("vectors", std::move(vectors));
  test::Step step(conv, rowsLayout(links->pattern(), {kIn, extent, extent}));
  const auto fill = [](DTensor& t, Index kind) {
    fillWith(t, [&](const std::vector<Index>& index) {
      return integerAt(kind, flattened(index.data(), t.layout().shape()));
    });
  };
  fill(*step.x, 1);
  fill(*step.dy, 2);
  fillParameters(*conv);
  step.apply();
  step.adjoint();
  const std::vector<double> x = gathered(*step.x), dy = gathered(*step.dy),
                            w = gathered(conv->parameters()[0]->value()),
                            b = gathered(conv->parameters()[1]->value());
  std::vector<double> y(dy.size()), dx(x.size()), dw(w.size());
  const Shape in = step.x->layout().shape(), out = step.y->layout().shape();
  for (Index i = 0; i < elements(out); ++i) {
    const std::vector<Index> o = unflattened(i, out);
    y[i] += b[o[1]];
    for (Index t = 0; t < kIn * 9; ++t) {
      const std::array<Index, 4> at{o[0], t / 9, o[2] + t % 9 / 3 - 1, o[3] + t % 3 - 1};
      const bool isInside = at[2] >= 0 && at[2] < extent && at[3] >= 0 && at[3] < extent;
      const std::optional<Ghost> read = isInside ? Ghost{at, 1} : ghostOf(at);
      if (!read)
        continue;
      const Index from = flattened(read->at.data(), in), weight = o[1] * kIn * 9 + t;
      y[i] += w[weight] * read->sign * x[from];
      dx[from] += w[weight] * read->sign * dy[i];
      dw[weight] += read->sign * x[from] * dy[i];
    }
  }
  ASSERT_EQ(gathered(*step.y), y) << what;
  ASSERT_EQ(gathered(*step.dx), dx) << what;
  ASSERT_EQ(gathered(*conv->parameters()[0]->reducedGradient()), dw) << what;
  ASSERT_LT(checkLayerAdjoint(*conv, nullptr, 5).relativeError, 1e-14) << what;
}

// Distributes patches, each with four sides, over the ranks at random.
std::vector<std::vector<PatchSide>> dealt(LayoutDraw& draw, const std::vector<PatchSide>& sides) {
  std::vector<std::vector<PatchSide>> ofRanks(static_cast<std::size_t>(world()->size()));
  int rank = 0;
  for (std::size_t i = 0; i < sides.size(); i += 4) {
    while (rank + 1 < world()->size() && draw.chance(40))
      ++rank;
    ofRanks[rank].insert(ofRanks[rank].end(), sides.begin() + static_cast<std::ptrdiff_t>(i),
                         sides.begin() + static_cast<std::ptrdiff_t>(i) + 4);
  }
  return ofRanks;
}

// A face of a cube. Directions in space are +-1, +-2 and +-3; the directions of the face's own
// index axes y and x are drawn.
struct CubeFace {
  int normal, axis[2]; // y, x
};

struct Cube {
  std::vector<CubeFace> faces;

  explicit Cube(LayoutDraw& draw) {
    for (int normal : {1, -1, 2, -2, 3, -3}) {
      int first = std::abs(normal) % 3 + 1, second = first % 3 + 1;
      if (draw.chance(50))
        std::swap(first, second);
      faces.push_back(
          {normal, {draw.chance(50) ? first : -first, draw.chance(50) ? second : -second}});
    }
  }
  int faceAt(int normal) const {
    return static_cast<int>(std::ranges::find(faces, normal, &CubeFace::normal) - faces.begin());
  }
  // The side of a face towards a direction: 0, 1, 2, 3 are low y, high y, low x, high x.
  int sideTowards(int face, int direction) const {
    for (int d = 0; d < 2; ++d)
      for (int high = 0; high < 2; ++high)
        if ((high ? 1 : -1) * faces[face].axis[d] == direction)
          return 2 * d + high;
    return -1;
  }
  std::vector<PatchSide> sides() const {
    std::vector<PatchSide> all;
    for (int face = 0; face < 6; ++face)
      for (int side = 0; side < 4; ++side) {
        const int direction = (side % 2 ? 1 : -1) * faces[face].axis[side / 2],
                  other = faceAt(direction), otherSide = sideTowards(other, faces[face].normal);
        const int along = faces[face].axis[1 - side / 2],
                  onward = faces[other].axis[1 - otherSide / 2];
        all.push_back({.patch = other, .side = otherSide, .turned = along == onward ? 0 : 1});
      }
    return all;
  }
  // A cell beyond one side of a face is a cell of the neighbouring face, around the edge; beyond a
  // corner no cell exists.
  std::optional<Ghost> ghost(const std::array<Index, 4>& at, Index extent,
                             const std::array<Index, 2>& vector) const {
    const CubeFace& from = faces[at[0]];
    std::array<Index, 4> position{}; // by axis of space, in half elements from the centre
    position[std::abs(from.normal)] = (from.normal > 0 ? 1 : -1) * extent;
    int beyond = 0, direction = 0;
    for (int d = 0; d < 2; ++d) {
      const Index p = 2 * at[2 + d] + 1 - extent;
      position[std::abs(from.axis[d])] = (from.axis[d] > 0 ? 1 : -1) * p;
      if (std::abs(p) > extent) {
        ++beyond;
        direction = p > 0 ? from.axis[d] : -from.axis[d];
      }
    }
    if (beyond != 1)
      return std::nullopt;
    // The distance beyond the edge is the distance down the neighbouring face.
    const Index depth = std::abs(position[std::abs(direction)]) - extent;
    position[std::abs(direction)] = (direction > 0 ? 1 : -1) * extent;
    position[std::abs(from.normal)] = (from.normal > 0 ? 1 : -1) * (extent - depth);
    const int face = faceAt(direction);
    Ghost ghost{{face, at[1], 0, 0}, 1};
    for (int d = 0; d < 2; ++d) {
      const int axis = faces[face].axis[d];
      ghost.at[2 + d] = ((axis > 0 ? 1 : -1) * position[std::abs(axis)] + extent - 1) / 2;
    }
    for (int d = 0; d < 2; ++d)
      if (at[1] == vector[d]) {
        // A vector along the face's axis has another direction in space after it is bent around the
        // edge, and there another component, with a sign.
        int bent = from.axis[d];
        if (std::abs(bent) == std::abs(direction))
          bent = bent == direction ? -from.normal : from.normal;
        const int component = std::abs(faces[face].axis[0]) == std::abs(bent) ? 0 : 1;
        ghost.at[1] = vector[component];
        ghost.sign = faces[face].axis[component] == bent ? 1 : -1;
      }
    return ghost;
  }
};

TEST(Patches, FacesOfACubeGoOnAroundItsEdges) {
  for (int i = 0; i < draws(10); ++i) {
    LayoutDraw draw(5600 + static_cast<unsigned>(i));
    const Cube cube(draw);
    const Index extent = draw.between(1, 5);
    const std::array<Index, 2> vector{2, 1}; // along y and x
    expectConvolution(
        linkSides(2, dealt(draw, cube.sides())), extent, {2, 1},
        [&](const std::array<Index, 4>& at) { return cube.ghost(at, extent, vector); },
        "case " + std::to_string(i));
    if (HasFatalFailure())
      return;
  }
}

// A row of tiles around the globe, with a wall in the south. In the north the row is folded: column
// x meets column width - 1 - x. The fold is between two points, or on the points of the last row
// (onPoints is 1), which is then its own mirror image. Sides are in the order south, north, west,
// east; the bits of `turned` are described at PatchSide: 1 reverses the columns, and 8 is a fold on
// points.
struct Tripolar {
  Index tiles, extent, onPoints; // onPoints: 0 or 1
  std::vector<PatchSide> sides() const {
    std::vector<PatchSide> all;
    for (Index t = 0; t < tiles; ++t)
      all.insert(all.end(), {{},
                             {.patch = tiles - 1 - t, .side = 1, .turned = onPoints ? 8 + 1 : 1},
                             {.patch = (t + tiles - 1) % tiles, .side = 3},
                             {.patch = (t + 1) % tiles, .side = 2}});
    return all;
  }
  // Channels from 2 on are vectors.
  std::optional<Ghost> ghost(const std::array<Index, 4>& at) const {
    if (at[2] < 0)
      return std::nullopt;
    const Index width = tiles * extent;
    Index x = (at[0] * extent + at[3] + width) % width, y = at[2];
    const bool folds = y >= extent;
    if (folds) {
      x = (2 * width - 1 - x + onPoints) % width;
      y = 2 * extent - 1 - y - onPoints;
    }
    return Ghost{{x / extent, at[1], y, x % extent}, folds && at[1] >= 2 ? -1.0 : 1.0};
  }
};

TEST(Patches, ATripolarGridFoldsWithSigns) {
  for (int i = 0; i < draws(10); ++i) {
    LayoutDraw draw(5900 + static_cast<unsigned>(i));
    const Index onPoints = i % 2, tiles = draw.between(1, 5);
    const Tripolar grid{tiles, draw.between(1 + static_cast<int>(onPoints), 4), onPoints};
    expectConvolution(
        linkSides(2, dealt(draw, grid.sides())), grid.extent, {3, 2},
        [&](const std::array<Index, 4>& at) { return grid.ghost(at); },
        "case " + std::to_string(i));
    if (HasFatalFailure())
      return;
  }
}

// Tests expectConvolution() itself: it must detect exchanged tiles, a fold without its turn, a
// missing side, and scalars that are treated as vectors.
TEST(Patches, WrongLinksAreFound) {
  const Tripolar grid{.tiles = 4, .extent = 3, .onPoints = 0};
  struct Case {
    const char* what;
    std::function<void(std::vector<PatchSide>&)> change; // four sides for each tile
    std::vector<Index> vectors;
    bool isWrong;
  };
  const Case cases[] = {
      {"right", [](auto&) {}, {3, 2}, false},
      {"exchanged tiles",
       [](auto& sides) {
         std::swap(sides[1], sides[5]);              // the northern sides of tiles 0 and 1, ...
         std::swap(sides[9].patch, sides[13].patch); // ... and those of tiles 2 and 3
       },
       {3, 2},
       true},
      {"no turn",
       [](auto& sides) {
         for (std::size_t t = 0; t < 4; ++t)
           sides[4 * t + 1].turned = 0;
       },
       {3, 2},
       true},
      {"a missing side", [](auto& sides) { sides[3] = sides[6] = {}; }, {3, 2}, true},
      {"other vectors", [](auto&) {}, {0, 1}, true},
  };
  for (const Case& c : cases) {
    LayoutDraw draw(5990);
    std::vector<PatchSide> sides = grid.sides();
    c.change(sides);
    EXPECT_EQ(c.isWrong, test::findsAFault([&] {
                expectConvolution(
                    linkSides(2, dealt(draw, sides)), grid.extent, c.vectors,
                    [&](const std::array<Index, 4>& at) { return grid.ghost(at); }, c.what);
              }))
        << c.what;
  }
}

TEST(Patches, FoldsOnPointsTakeNoStride) {
  std::vector<std::vector<PatchSide>> sides(static_cast<std::size_t>(world()->size()));
  sides[0] = {{},
              {.patch = 0, .side = 1, .turned = 8 + 1},
              {.patch = 0, .side = 3},
              {.patch = 0, .side = 2}};
  const auto pooling = test::newPooling(world(), PoolingMode::Max,
                                        std::vector<Window>(2, {.kernel = 2, .stride = 2}));
  pooling->setLinks(linkSides(2, sides));
  expectErrorOnAll(TENON_ERR_SUPPORT, {"has stride 2", "folded on points"}, [&] {
    pooling->setUp(rowsLayout(linkSides(2, sides)->pattern(), {1, 4, 4}));
  });
}

// Poolings and transposed convolutions exchange components of vectors at links as convolutions do:
// a mean is compared with a convolution with equal weights, and a transposed convolution with the
// adjoint of a convolution.
TEST(Patches, PoolingsAndTransposedConvolutionsTurnVectors) {
  for (int i = 0; i < draws(4); ++i) {
    LayoutDraw draw(5950 + static_cast<unsigned>(i));
    const Cube cube(draw);
    const Index extent = draw.between(1, 4);
    const PatchLinksPtr links = linkSides(2, dealt(draw, cube.sides()));
    const Layout field = rowsLayout(links->pattern(), {3, extent, extent});
    const Window same{.kernel = 3,
                      .padLow = 1,
                      .padHigh = 1,
                      .lowMode = Boundary::Linked,
                      .highMode = Boundary::Linked};
    const auto step = [&](const Ref<Layer>& layer) {
      layer->setLinks(links);
      layer->set("vectors", std::vector<Index>{2, 1});
      return std::make_unique<test::Step>(layer, field);
    };
    const auto fill = [](DTensor& t, Index kind) {
      fillWith(t, [&](const std::vector<Index>& index) {
        return integerAt(kind, flattened(index.data(), t.layout().shape()));
      });
    };
    // The mean of a window is a convolution whose weights are a ninth.
    const auto pooling =
                   step(test::newPooling(world(), PoolingMode::AverageIncludePad, {same, same})),
               mean = step(test::newConv(world(), 3, 3, {same, same}));
    fillWith(mean->layer->parameters()[0]->value(),
             [](const std::vector<Index>& index) { return index[0] == index[1] ? 1.0 / 9 : 0.0; });
    fillWith(mean->layer->parameters()[1]->value(), [](const std::vector<Index>&) { return 0.0; });
    for (const auto& p : mean->layer->parameters())
      p->valueChanged();
    for (const auto* one : {&pooling, &mean}) {
      fill(*(*one)->x, 1);
      fill(*(*one)->dy, 2);
      (*one)->apply();
      (*one)->adjoint();
    }
    ASSERT_NO_FATAL_FAILURE(
        test::expectNear(gathered(*pooling->y), gathered(*mean->y), 1e-14, "mean"));
    ASSERT_NO_FATAL_FAILURE(
        test::expectNear(gathered(*pooling->dx), gathered(*mean->dx), 1e-14, "mean's adjoint"));
    // A transposed convolution is the transpose of the convolution with its weights.
    const auto across = step(transposed(3, 3, {same, same})),
               conv = step(test::newConv(world(), 3, 3, {same, same}));
    for (const auto* one : {&across, &conv}) {
      fillParameters(*(*one)->layer);
      fillWith((*one)->layer->parameters()[1]->value(),
               [](const std::vector<Index>&) { return 0.0; });
      (*one)->layer->parameters()[1]->valueChanged();
    }
    fill(*across->x, 3);
    fill(*across->dy, 4);
    fill(*conv->x, 4);
    fill(*conv->dy, 3);
    across->apply();
    across->adjoint();
    conv->apply();
    conv->adjoint();
    ASSERT_EQ(gathered(*across->y), gathered(*conv->dx)) << "case " << i;
    ASSERT_EQ(gathered(*across->dx), gathered(*conv->y)) << "case " << i;
  }
}

// The element that one tap of a window reads is a convolution with the weight 1 for this tap, so
// the maximum over a window is the largest of three such convolutions. Windows are lines, because
// no cell exists beyond a corner of a cube.
TEST(Patches, MaximaTurnVectors) {
  for (int i = 0; i < draws(4); ++i) {
    LayoutDraw draw(5970 + static_cast<unsigned>(i));
    const Cube cube(draw);
    const Index extent = draw.between(1, 4);
    const PatchLinksPtr links = linkSides(2, dealt(draw, cube.sides()));
    const Layout field = rowsLayout(links->pattern(), {3, extent, extent});
    std::vector<Window> line(2, {.lowMode = Boundary::Linked, .highMode = Boundary::Linked});
    Window& along = line[draw.upTo(1)];
    along.kernel = 3;
    along.padLow = along.padHigh = 1;
    const auto step = [&](const Ref<Layer>& layer) {
      layer->setLinks(links);
      layer->set("vectors", std::vector<Index>{2, 1});
      auto made = std::make_unique<test::Step>(layer, field);
      fillWith(*made->x, [&](const std::vector<Index>& index) {
        return std::sin(double(3 * flattened(index.data(), field.shape()) + i));
      });
      return made;
    };
    const auto pooling = step(test::newPooling(world(), PoolingMode::Max, line));
    fillWith(*pooling->dy, [&](const std::vector<Index>& index) {
      return integerAt(2, flattened(index.data(), field.shape()));
    });
    pooling->apply();
    pooling->adjoint();
    const std::vector<double> dy = gathered(*pooling->dy);
    std::vector<std::unique_ptr<test::Step>> taps;
    std::vector<std::vector<double>> brought;
    for (Index tap = 0; tap < 3; ++tap) {
      taps.push_back(step(test::newConv(world(), 3, 3, line)));
      const auto parameters = taps.back()->layer->parameters();
      fillWith(parameters[0]->value(), [&](const std::vector<Index>& index) {
        return index[0] == index[1] && index[2] + index[3] == tap ? 1.0 : 0.0;
      });
      fillWith(parameters[1]->value(), [](const std::vector<Index>&) { return 0.0; });
      for (const auto& p : parameters)
        p->valueChanged();
      taps.back()->apply();
      brought.push_back(gathered(*taps.back()->y));
    }
    std::vector<double> y(dy.size()), dx(dy.size(), 0.0);
    for (std::size_t n = 0; n < y.size(); ++n)
      y[n] = std::max({brought[0][n], brought[1][n], brought[2][n]});
    ASSERT_EQ(gathered(*pooling->y), y) << "case " << i;
    for (std::size_t tap = 0; tap < 3; ++tap) {
      fillWith(*taps[tap]->dy, [&](const std::vector<Index>& index) {
        const auto n = static_cast<std::size_t>(flattened(index.data(), field.shape()));
        return brought[tap][n] == y[n] ? dy[n] : 0.0;
      });
      taps[tap]->adjoint();
      const std::vector<double> part = gathered(*taps[tap]->dx);
      for (std::size_t n = 0; n < dx.size(); ++n)
        dx[n] += part[n];
    }
    ASSERT_NO_FATAL_FAILURE(test::expectNear(gathered(*pooling->dx), dx, 1e-14, "dx"));
  }
}

// A level of a refined grid: tiles of n x n elements in a periodic box, some of which are missing.
struct Level {
  Shape tiles;
  Index extent;
  std::vector<Index> placeOf; // of each patch
  PatchLinksPtr links;

  Level(LayoutDraw& draw, Shape grid, Index n, int missingPercent)
      : tiles(std::move(grid)), extent(n) {
    std::vector<std::vector<Index>> places(static_cast<std::size_t>(world()->size()));
    for (Index place = 0; place < elements(tiles); ++place)
      if (place == 0 || !draw.chance(missingPercent))
        places[draw.upTo(world()->size() - 1)].push_back(place);
    for (const std::vector<Index>& list : places)
      placeOf.insert(placeOf.end(), list.begin(), list.end());
    const BoxEnds periodic{Boundary::Periodic, Boundary::Periodic};
    links = linkTiles(tiles, places, {periodic, periodic});
  }
  Layout layout(Index channels) const {
    return rowsLayout(links->pattern(), {channels, extent, extent});
  }
  // The element at an index of the box, as patch, y and x; the patch is -1 if the tile is missing.
  std::array<Index, 3> at(Index y, Index x) const {
    const Index height = tiles[0] * extent, width = tiles[1] * extent;
    y = (y + height) % height;
    x = (x + width) % width;
    const auto found = std::ranges::find(placeOf, y / extent * tiles[1] + x / extent);
    return {found == placeOf.end() ? -1 : found - placeOf.begin(), y % extent, x % extent};
  }
  // The index in the box of an element of a patch, or of a cell beyond it.
  std::array<Index, 2> inBox(Index patch, Index y, Index x) const {
    const Index place = placeOf[patch];
    return {place / tiles[1] * extent + y, place % tiles[1] * extent + x};
  }
};

// Cells beyond a refined level are interpolated from the coarser one, here as twice the element
// that contains the cell plus the next element. The layer reads them by an index map (linkedhalo);
// the independent sum at the end computes them from their definition.
TEST(Patches, ARefinedLevelReadsTheCoarserOneBeyondIt) {
  constexpr Index kIn = 2, kOut = 2;
  for (int i = 0; i < draws(10); ++i) {
    LayoutDraw draw(6200 + static_cast<unsigned>(i));
    const Index n = draw.between(1, 4);
    const Shape grid{draw.between(1, 2), draw.between(1, 3)};
    const Level coarse(draw, grid, n, 0), fine(draw, {2 * grid[0], 2 * grid[1]}, n, 40);
    const Layout xLayout = fine.layout(kIn), cLayout = coarse.layout(kIn);
    LayoutSpec spec = xLayout.spec();
    for (int d = 2; d < 4; ++d)
      spec.halos[d] =
          Halo{.boxes = {{-1, n + 1}}, .low = Boundary::Linked, .high = Boundary::Linked};
    const Layout wide(std::move(spec));
    const Interval own = xLayout.boxOfRank(world()->rank())[0];
    WantedEntries wanted;
    for (Index p = own.begin; p < own.end; ++p)
      for (Index t = 0; t < (n + 2) * (n + 2); ++t) {
        const auto [y, x] = fine.inBox(p, t / (n + 2) - 1, t % (n + 2) - 1);
        if (fine.at(y, x)[0] >= 0)
          continue;
        for (Index next = 0; next < 2; ++next) {
          const Index height = 2 * n * grid[0], width = 2 * n * grid[1];
          const auto from = coarse.at((y + height) % height / 2, (x + width) % width / 2 + next);
          wanted.target.push_back((p - own.begin) * (n + 2) * (n + 2) + t);
          wanted.source.push_back((from[0] * n + from[1]) * n + from[2]);
          wanted.weights.push_back(next == 0 ? 2 : 1);
        }
      }
    const IndexMapPtr rows = makeIndexMap(*world(), cLayout, wide, {0, 2, 3}, wanted);

    const Window same{.kernel = 3,
                      .padLow = 1,
                      .padHigh = 1,
                      .lowMode = Boundary::Linked,
                      .highMode = Boundary::Linked};
    const auto net = test::newLayer(world(), "graph"), halo = test::newLayer(world(), "linkedhalo");
    const auto conv = test::newConv(world(), kIn, kOut, {same, same});
    net->set("input_count", Index(2));
    halo->set("padding", std::vector<Index>{1});
    halo->set("index_map", std::string("coarse"));
    addGraphNode(*net, conv, {addGraphNode(*net, halo, {-1, -2})});
    net->setLinks(fine.links);
    net->setList("TenonLayerSetIndexMap()", "coarse", rows);
    net->setDataType(TENON_FLOAT64);
    net->setUp({xLayout, cLayout});
    fillParameters(*net);
    const auto fill = [](const Layout& layout, Index kind) {
      const Ref<DTensor> t = tensor(layout);
      fillWith(*t, [&](const std::vector<Index>& index) {
        return integerAt(kind, flattened(index.data(), layout.shape()));
      });
      return t;
    };
    const Layout out = net->outputLayouts().front();
    const Ref<DTensor> x = fill(xLayout, 1), c = fill(cLayout, 2), y = tensor(out),
                       dy = fill(out.dual(), 3), dx = tensor(xLayout.dual()),
                       dc = tensor(cLayout.dual());
    const DTensor* const inputs[] = {x.get(), c.get()};
    DTensor* const cotangents[] = {dx.get(), dc.get()};
    net->apply(inputs, *y);
    net->applyAdjoint(*dy, cotangents);

    const std::vector<double> xs = gathered(*x), cs = gathered(*c), dys = gathered(*dy),
                              w = gathered(conv->parameters()[0]->value()),
                              b = gathered(conv->parameters()[1]->value());
    std::vector<double> ys(dys.size()), dxs(xs.size()), dcs(cs.size());
    for (Index o = 0; o < elements(out.shape()); ++o) {
      const std::vector<Index> at = unflattened(o, out.shape());
      ys[o] += b[at[1]];
      for (Index t = 0; t < kIn * 9; ++t) {
        const double weight = w[at[1] * kIn * 9 + t];
        const Index channel = t / 9;
        const auto [row, column] = fine.inBox(at[0], at[2] + t % 9 / 3 - 1, at[3] + t % 3 - 1);
        const auto read = [&](const std::array<Index, 3>& from, double factor,
                              const std::vector<double>& values, std::vector<double>& gradient) {
          const Index k = ((from[0] * kIn + channel) * n + from[1]) * n + from[2];
          ys[o] += weight * factor * values[k];
          gradient[k] += weight * factor * dys[o];
        };
        if (const auto from = fine.at(row, column); from[0] >= 0) {
          read(from, 1, xs, dxs);
          continue;
        }
        const Index height = 2 * n * grid[0], width = 2 * n * grid[1],
                    below = (row + height) % height / 2, left = (column + width) % width / 2;
        read(coarse.at(below, left), 2, cs, dcs);
        read(coarse.at(below, left + 1), 1, cs, dcs);
      }
    }
    ASSERT_EQ(gathered(*y), ys) << "case " << i;
    ASSERT_EQ(gathered(*dx), dxs) << "case " << i;
    ASSERT_EQ(gathered(*dc), dcs) << "case " << i;
  }
}

// --- Errors

PatchLinksPtr rowOfTiles(Index tiles) {
  std::vector<std::vector<Index>> places(static_cast<std::size_t>(world()->size()));
  for (Index t = 0; t < tiles; ++t)
    places[t % world()->size()].push_back(t);
  return linkTiles({1, tiles}, places, {{}, {}});
}

TEST(Patches, LayersThatWorkOnEachPatchForItselfAreRefused) {
  const PatchLinksPtr links = rowOfTiles(3);
  const Layout field = rowsLayout(links->pattern(), {2, 4, 4});
  const auto expect = [&](const Ref<Layer>& layer, TenonErrorCode code,
                          std::initializer_list<const char*> parts) {
    const auto net = test::newLayer(world(), "sequential");
    appendLayer(*net, layer);
    net->setLinks(links);
    net->setDataType(TENON_FLOAT64);
    expectErrorOnAll(code, parts, [&] { net->setUp(field); });
  };
  for (const char* type : {"instancenorm", "globalaveragepooling", "flatten", "coordinates"}) {
    const auto layer = test::newLayer(world(), type);
    if (layer->declaration().settings().has("channels"))
      layer->set("channels", Index(2));
    expect(layer, TENON_ERR_SUPPORT, {type, "works on each patch for itself"});
  }
  const auto linear = test::newLayer(world(), "resample");
  linear->set("scale_factor", std::vector<Index>{2});
  linear->set("method", std::string("linear"));
  expect(linear, TENON_ERR_SUPPORT, {"resample", "works on each patch for itself"});
  using W = std::vector<Window>;
  const Window same{.kernel = 3, .padLow = 1, .padHigh = 1};
  expect(test::newConv(world(), 2, 1, W{same, same}), TENON_ERR_SUPPORT,
         {"pads each patch for itself in spatial dimension 1", "linked"});
  const Window valid{.kernel = 3, .lowMode = Boundary::Linked, .highMode = Boundary::Linked};
  expect(test::newConv(world(), 2, 1, W{valid, valid}), TENON_ERR_SHAPE,
         {"follow on", "expected 4"});
  const Window one{.kernel = 3, .padLow = 1, .padHigh = 1, .lowMode = Boundary::Linked};
  EXPECT_THROW(test::newConv(world(), 2, 1, W{one, same}), Error);
}

TEST(Patches, LinkedSidesNeedLinksOfTheirPatches) {
  using W = std::vector<Window>;
  const Window same{.kernel = 3,
                    .padLow = 1,
                    .padHigh = 1,
                    .lowMode = Boundary::Linked,
                    .highMode = Boundary::Linked};
  const Layout field = rowsLayout(rowOfTiles(3)->pattern(), {2, 4, 4});
  const auto conv = test::newConv(world(), 2, 1, W{same, same});
  expectErrorOnAll(TENON_ERR_STATE,
                   {"boundary mode \"linked\", but no links", "TenonLayerSetLinks()"},
                   [&] { conv->setUp(field); });
  conv->setLinks(rowOfTiles(2));
  expectErrorOnAll(TENON_ERR_SHAPE, {"works on 3 patches", "join 2 patches of 2 dimensions"},
                   [&] { conv->setUp(field); });
  conv->setLinks(rowOfTiles(3));
  conv->set("vectors", std::vector<Index>{1});
  expectErrorOnAll(TENON_ERR_ARG, {"names 1 channel", "give 2"}, [&] { conv->setUp(field); });
  conv->set("vectors", std::vector<Index>{1, 2});
  expectErrorOnAll(TENON_ERR_ARG, {"names channel 2"}, [&] { conv->setUp(field); });
}

TEST(Patches, LinksSayWhichPlacesAndSidesDoNotFit) {
  const auto expect = [](std::initializer_list<const char*> parts, auto&& call) {
    try {
      call();
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), TENON_ERR_ARG);
      for (const char* part : parts)
        EXPECT_NE(error.text().find(part), std::string::npos) << part << " in " << error.text();
    }
  };
  expect({"rank 1", "place 6 of 2x3"}, [] { linkTiles({2, 3}, {{0}, {6}}, {{}, {}}); });
  expect({"rank 1", "at 0,2 of 2x3", "patch 1"}, [] {
    linkTiles({2, 3}, {{0, 2}, {2}}, {{}, {}});
  });
  expect({"values"}, [] { linkTiles({1}, {{0}}, {{Boundary::Values, Boundary::Zero}}); });
  expect({"side 1 of patch 0", "side 0 of patch 1", "to none"}, [] {
    linkSides(1, {{{}, {.patch = 1, .side = 0}}, {{}, {}}}); // patch 1 has no link back
  });
  expect({"side 0 of patch 0", "side 2 of patch 0, turned 0"}, [] {
    linkSides(1, {{{.patch = 0, .side = 2}, {}}}); // in one dimension sides are 0 and 1
  });
}

} // namespace
} // namespace tenon
