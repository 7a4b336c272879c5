// SPDX-License-Identifier: BSD-2-Clause
// Random grids and layouts: uneven and empty parts, own cuts, shared dimensions, any rank order,
// inactive ranks, halos of every boundary mode. Equal seeds give equal layouts on every rank.
#pragma once

#include "geometry/layout/layout.hpp"

#include <algorithm>
#include <random>

namespace tenon::test {

class LayoutDraw {
public:
  explicit LayoutDraw(unsigned seed) : engine_(seed) {}

  int upTo(int n) { return std::uniform_int_distribution<int>(0, n)(engine_); }
  int between(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }
  bool chance(int percent) { return upTo(99) < percent; }

  Shape shape(int minRank, int maxRank, int maxExtent) {
    Shape result(between(minRank, maxRank));
    for (Index& extent : result)
      extent = chance(5) ? 0 : between(1, maxExtent);
    return result;
  }

  // A grid of at most `ranks` processes with up to maxAxes axes, in any rank order.
  GridPtr grid(int ranks, int maxAxes) {
    std::vector<int> extents(between(1, maxAxes));
    int left = ranks;
    for (int& extent : extents) {
      extent = between(1, std::min(left, 4));
      left /= extent;
    }
    std::shuffle(extents.begin(), extents.end(), engine_);
    int size = 1;
    for (int extent : extents)
      size *= extent;
    std::vector<int> order(ranks);
    for (int r = 0; r < ranks; ++r)
      order[r] = r;
    if (chance(50))
      std::shuffle(order.begin(), order.end(), engine_);
    order.resize(size);
    return Grid::make(extents, order);
  }

  // With coveringHalos, the box of each part contains all cells that the part owns, so no value is
  // lost; otherwise boxes can also be smaller than parts, or empty.
  Layout layout(const Shape& shape, const GridPtr& grid, int haloPercent, bool coveringHalos) {
    LayoutSpec spec{.shape = shape, .grid = grid, .properties = properties(shape, *grid)};
    const std::size_t rank = shape.size();
    spec.splitAxes.resize(rank);
    spec.cuts.resize(rank);
    spec.halos.resize(rank);
    for (std::size_t d = 0; d < rank; ++d) {
      int parts = 1;
      for (int axis = 0; axis < grid->axes(); ++axis)
        if (spec.properties[axis] == Property::shard(static_cast<int>(d))) {
          spec.splitAxes[d].push_back(axis);
          parts *= grid->extent(axis);
        }
      if (chance(30))
        std::shuffle(spec.splitAxes[d].begin(), spec.splitAxes[d].end(), engine_);
      if (chance(50))
        spec.cuts[d] = cuts(shape[d], parts);
    }
    // All halos of a layout hold values (G), or all hold contributions (G*).
    const bool contributions = chance(50);
    const Layout plain(spec);
    for (std::size_t d = 0; d < rank; ++d)
      if (chance(haloPercent))
        spec.halos[d] = halo(plain, static_cast<int>(d), contributions, coveringHalos);
    return Layout(spec);
  }

  // Makes a globe of some layouts: one dimension gets a halo with poles (of values, if no halo may
  // hold contributions), and another one, of even extent, has the longitudes.
  void poles(Layout& layout, bool onlyValues = false) {
    const Shape& shape = layout.shape();
    // As in the library (poles.cpp), batch and channels are neither latitudes nor longitudes.
    const int rank = layout.ndim(), first = rank < 4 ? 0 : 2;
    if (rank < first + 2 || chance(50))
      return;
    const int y = between(first, rank - 1);
    const int x = first + (y - first + between(1, rank - first - 1)) % (rank - first);
    if (shape[x] % 2 != 0)
      return;
    LayoutSpec spec = layout.spec();
    if (!spec.halos[y])
      spec.halos[y] = halo(layout, y, !onlyValues && chance(50), true);
    Boundary &low = spec.halos[y]->low, &high = spec.halos[y]->high;
    low = pole(shape[y] > 1);
    high = pole(shape[y] > 1);
    if (chance(25))
      (chance(50) ? low : high) = boundary();
    spec.halos[y]->longitudes = x;
    if (spec.halos[x])
      spec.halos[x]->low = spec.halos[x]->high = Boundary::Periodic;
    layout = Layout(std::move(spec));
  }

  // Gives some pairs boundary modes by channel, where channels have no halo.
  void modesByChannel(Layout& a, Layout& b) {
    if (a.ndim() < 2 || a.shape()[1] < 2 || a.halo(1) || b.halo(1) || chance(50))
      return;
    for (const Layout* layout : {&a, &b})
      for (int d = 0; d < a.ndim(); ++d)
        if (layout->halo(d) && layout->halo(d)->longitudes == 1)
          return;
    for (Layout* layout : {&a, &b}) {
      LayoutSpec spec = layout->spec();
      std::vector<bool> keepsModes(spec.shape.size(), false); // of longitudes
      for (const auto& halo : spec.halos)
        if (halo && halo->longitudes >= 0)
          keepsModes[halo->longitudes] = true;
      for (std::size_t d = 0; d < spec.shape.size(); ++d)
        for (Index end = 0; spec.halos[d] && !keepsModes[d] && end < spec.shape[1];) {
          // At most three runs of channels, of which the last ends with the last channel.
          Halo& halo = *spec.halos[d];
          end = halo.bands.size() == 2 ? spec.shape[1]
                                       : end + between(1, static_cast<int>(spec.shape[1] - end));
          halo.bands.push_back({.end = end, .low = like(halo.low), .high = like(halo.high)});
        }
      *layout = Layout(std::move(spec));
    }
  }

private:
  // A pole mode; with one row only those of poles between rows.
  Boundary pole(bool hasPoints) {
    constexpr Boundary kPoles[] = {Boundary::Pole, Boundary::PoleVector, Boundary::PolePoint,
                                   Boundary::PolePointVector};
    return kPoles[upTo(hasPoints ? 3 : 1)];
  }

  // A mode for another run of channels on a side with this mode. A side has a mode for all channels
  // or for none, since boxes are the same for all; a pole is one for all channels, but some can be
  // components of a vector.
  Boundary like(Boundary mode) {
    if (isPole(mode))
      return chance(50) ? mode : vectorMode(mode);
    return mode == Boundary::None ? mode : kExtensions[between(1, kExtensionCount - 1)];
  }

  Properties properties(const Shape& shape, const Grid& grid) {
    Properties result(grid.axes());
    for (Property& p : result) {
      const int kind = upTo(5); // half of the axes split a dimension
      if (kind <= 2)
        p = Property::shard(upTo(static_cast<int>(shape.size()) - 1));
      if (kind == 3)
        p = Property::broadcast();
      if (kind == 4)
        p = Property::partial();
      if (kind == 5)
        p = Property::root();
    }
    return result;
  }

  std::vector<Index> cuts(Index extent, int parts) {
    std::vector<Index> result = {0, extent};
    for (int i = 1; i < parts; ++i)
      result.push_back(upTo(static_cast<int>(extent)));
    std::sort(result.begin(), result.end());
    return result;
  }

  Boundary boundary() { return kExtensions[upTo(kExtensionCount - 1)]; }

  Halo halo(const Layout& plain, int dim, bool isPartial, bool covering) {
    Halo result{.boxes = {}, .low = boundary(), .high = boundary(), .isPartial = isPartial};
    const int least = covering ? 0 : -2; // of the widths; a negative one ends inside the part
    for (int part = 0; part < plain.parts(dim); ++part) {
      const Interval owned = plain.owned(dim, part);
      Interval box{owned.begin - between(least, 4), owned.end + between(least, 4)};
      if (!covering && chance(10))
        box = {0, 0};
      result.boxes.push_back(box);
    }
    return result;
  }

  std::mt19937 engine_;
};

} // namespace tenon::test
