// SPDX-License-Identifier: BSD-2-Clause
// A refined level of tiles inside a coarser one: cells beyond the refined level are interpolated
// from the coarser one, whose elements the layer reads by an index map. The independent values are
// sums over interpolated elements, computed from the positions in the box (Level).
#include "linop/exchange/make_index_map.hpp"
#include "patches.hpp"
#include "support/draws.hpp"

#include <array>

namespace tenon {
namespace {

using test::draws;
using test::gathered;
using test::LayoutDraw;
using test::tensor;
using test::world;
using test::patches::fillParameters;
using test::patches::fillWith;
using test::patches::integerAt;

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

} // namespace
} // namespace tenon
