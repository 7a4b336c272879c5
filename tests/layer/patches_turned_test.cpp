// SPDX-License-Identifier: BSD-2-Clause
// Layers on patches whose sides meet turned, so that components of vectors exchange or change their
// sign there. Independent values:
//
//   faces of a cube   sums over neighbours, found from the positions of elements in space (Cube)
//   tripolar grid     sums over neighbours, with the fold at the north pole written out (Tripolar)
//   poolings          convolutions with equal weights, or with the weight 1 for one tap
#include "layer/derivatives/derivative_check.hpp"
#include "patches.hpp"
#include "support/draws.hpp"
#include "support/finds_a_fault.hpp"

#include <array>
#include <cmath>

namespace tenon {
namespace {

using test::draws;
using test::expectErrorOnAll;
using test::gathered;
using test::LayoutDraw;
using test::world;
using test::patches::fillParameters;
using test::patches::fillWith;
using test::patches::integerAt;
using test::patches::transposed;

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

} // namespace
} // namespace tenon
