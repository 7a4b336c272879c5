// SPDX-License-Identifier: BSD-2-Clause
// Links of tiles of a box: the patches are tiles of equal extents, each at a place in a grid of
// tiles. An element beyond a tile is an element of the box, in another tile or beyond the ends of
// the box, where their boundary modes apply. For example, in a box of 2 x 3 tiles of 10 x 10
// elements, element [12, 4] of the tile at place 1 = (0, 1) is element [12, 14] of the box, that
// is, [2, 4] of the tile at place 4 = (1, 1). Each rank stores the places of all patches, but not
// the places without a patch: a box can be as large as indices allow. linkTiles() is declared in
// patch_links.hpp.
#include "geometry/patches/patch_links.hpp"
#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <numeric>
#include <utility>

namespace tenon {

namespace {

class TileLinks final : public PatchLinks {
public:
  // `sorted` has all places in increasing order, each with its patch.
  TileLinks(Layout pattern, Shape tiles, std::vector<std::pair<Index, Index>> sorted,
            std::vector<BoxEnds> ends)
      : PatchLinks(std::move(pattern), static_cast<int>(tiles.size())), tiles_(std::move(tiles)),
        placeOf_(sorted.size()), sorted_(std::move(sorted)), ends_(std::move(ends)) {
    for (const auto& [place, patch] : sorted_)
      placeOf_[patch] = place;
  }

  std::optional<LinkedElement> source(Index patch, const std::vector<Index>& index,
                                      const Shape& extents) const override {
    // Tiles are not rotated: each component of a vector is along its own dimension.
    LinkedElement result{.patch = -1,
                         .index = std::vector<Index>(index.size()),
                         .factor = 1,
                         .dims = std::vector<int>(index.size()),
                         .signs = std::vector<int>(index.size(), 1)};
    std::iota(result.dims.begin(), result.dims.end(), 0);
    std::vector<Index> place = unflattened(placeOf_[patch], tiles_);
    for (std::size_t d = 0; d < index.size(); ++d) {
      const Index extent = extents[d] * tiles_[d], global = place[d] * extents[d] + index[d];
      const auto source = extensionSource(global, extent, ends_[d].low, ends_[d].high);
      if (!source)
        return std::nullopt;
      result.factor *= extensionSign(global, extent, ends_[d].low, ends_[d].high);
      place[d] = *source / extents[d];
      result.index[d] = *source % extents[d];
    }
    result.patch = patchAt(flattened(place.data(), tiles_));
    return result.patch < 0 ? std::nullopt : std::optional(std::move(result));
  }

  std::vector<Index> around(const std::vector<Index>& patches,
                            const std::vector<Index>& crossings) const override {
    if (patches.empty())
      return {};
    // Of the two ways to find the patches near a place, the cheaper one is used: to look up the
    // places of a window around it, or to compare it with the places of all patches.
    Shape window;
    Index size = 1; // Number of places in the window, or the number of patches if that is smaller.
    for (std::size_t d = 0; d < crossings.size(); ++d) {
      window.push_back(crossings[d] < tiles_[d] / 2 ? 2 * crossings[d] + 1 : tiles_[d]);
      size = window[d] > this->patches() / size ? this->patches() : size * window[d];
    }
    std::vector<bool> isFound(static_cast<std::size_t>(this->patches()), false);
    Index missing = this->patches();
    const auto mark = [&](Index patch) {
      if (patch >= 0 && !isFound[patch]) {
        isFound[patch] = true;
        --missing;
      }
    };
    for (std::size_t i = 0; i < patches.size() && missing > 0; ++i) {
      const std::vector<Index> place = unflattened(placeOf_[patches[i]], tiles_);
      for (Index n = 0; n < size; ++n)
        if (size < this->patches())
          mark(patchNear(place, unflattened(n, window), window));
        else if (isNear(place, unflattened(placeOf_[n], tiles_), crossings))
          mark(n);
    }
    std::vector<Index> marked;
    for (Index patch = 0; patch < this->patches(); ++patch)
      if (isFound[patch])
        marked.push_back(patch);
    return marked;
  }

  bool joins(int dim) const override {
    const auto isWalled = [](Boundary mode) { return mode != Boundary::Periodic; };
    return tiles_[dim] > 1 || !isWalled(ends_[dim].low) || !isWalled(ends_[dim].high);
  }

  // The indices of elements of the box must fit into 64 bits, although no rank stores the box.
  void checkExtents(const Shape& extents) const override {
    for (std::size_t d = 0; d < extents.size(); ++d)
      if (extents[d] > kMaxElements / tiles_[d])
        throw Error(TENON_ERR_SHAPE,
                    fmt::format("patches have extents {}, so that a box of {} tiles has more than "
                                "{} elements along spatial dimension {}; use fewer tiles",
                                fmt::join(extents, "x"), fmt::join(tiles_, "x"), kMaxElements, d));
  }

  std::string describe() const override {
    std::vector<std::string> modes;
    for (const BoxEnds& end : ends_)
      modes.push_back(end.low == end.high
                          ? boundaryName(end.low)
                          : fmt::format("{}/{}", boundaryName(end.low), boundaryName(end.high)));
    return fmt::format("{} of {} tiles of a box, {} beyond it, places {}", patches(),
                       fmt::join(tiles_, "x"), joined(modes, ","), linksDigest(placeOf_));
  }

private:
  // The patch at a place, or -1.
  Index patchAt(Index place) const {
    const auto entry = std::ranges::lower_bound(sorted_, std::pair(place, Index(0)));
    return entry != sorted_.end() && entry->first == place ? entry->second : -1;
  }
  // The patch at an offset in the window around a place, in the periodic box, or -1.
  Index patchNear(const std::vector<Index>& place, std::vector<Index> offset,
                  const Shape& window) const {
    for (std::size_t d = 0; d < offset.size(); ++d) {
      // |away| is less than a box, and the order of the sums avoids overflow for any number of
      // tiles.
      const Index away = offset[d] - window[d] / 2;
      offset[d] = away < 0 ? place[d] + away + (place[d] < -away ? tiles_[d] : 0)
                  : place[d] < tiles_[d] - away ? place[d] + away
                                                : place[d] - (tiles_[d] - away);
    }
    return patchAt(flattened(offset.data(), tiles_));
  }
  // True if two places are at most crossings[d] tiles apart in each dimension d of the periodic
  // box.
  bool isNear(const std::vector<Index>& place, const std::vector<Index>& other,
              const std::vector<Index>& crossings) const {
    for (std::size_t d = 0; d < place.size(); ++d) {
      const Index distance = std::abs(place[d] - other[d]);
      if (std::min(distance, tiles_[d] - distance) > crossings[d])
        return false;
    }
    return true;
  }

  Shape tiles_;
  std::vector<Index> placeOf_;                  // By patch: its place in the grid of tiles.
  std::vector<std::pair<Index, Index>> sorted_; // (place, patch), by place.
  std::vector<BoxEnds> ends_;
};

} // namespace

PatchLinksPtr linkTiles(const Shape& tiles, const std::vector<std::vector<Index>>& placesOfRanks,
                        const std::vector<BoxEnds>& ends) {
  std::vector<Index> counts;
  for (const std::vector<Index>& places : placesOfRanks)
    counts.push_back(static_cast<Index>(places.size()));
  Layout pattern = patchPattern(counts);
  std::vector<std::pair<Index, Index>> sorted; // Places with their patches.
  for (std::size_t rank = 0; rank < placesOfRanks.size(); ++rank)
    for (Index place : placesOfRanks[rank]) {
      if (place < 0 || place >= elements(tiles))
        throw Error(TENON_ERR_ARG,
                    fmt::format("rank {} has a tile at place {} of {} tiles; pass 0 "
                                "to {}, counted row by row",
                                rank, place, fmt::join(tiles, "x"), elements(tiles) - 1));
      sorted.emplace_back(place, static_cast<Index>(sorted.size()));
    }
  std::ranges::sort(sorted);
  const auto duplicate =
      std::ranges::adjacent_find(sorted, {}, [](const auto& entry) { return entry.first; });
  if (duplicate != sorted.end()) {
    const auto& [place, patch] = *std::next(duplicate);
    const auto& cuts = pattern.cuts(0);
    throw Error(TENON_ERR_ARG,
                fmt::format("rank {} has a tile at {} of {} tiles, where patch {} lies already; "
                            "give each tile to one rank",
                            std::ranges::upper_bound(cuts, patch) - cuts.begin() - 1,
                            fmt::join(unflattened(place, tiles), ","), fmt::join(tiles, "x"),
                            duplicate->second));
  }
  for (const BoxEnds& end : ends)
    for (Boundary mode : {end.low, end.high})
      if (mode == Boundary::None || isUserSupplied(mode) || mode == Boundary::Linked ||
          isPole(mode))
        throw Error(TENON_ERR_ARG,
                    fmt::format("the boundary mode of an end of the box is {}; use zero, periodic, "
                                "reflect, replicate, symmetric, odd or odd_point",
                                boundaryName(mode)));
  return std::make_shared<const TileLinks>(std::move(pattern), tiles, std::move(sorted), ends);
}

} // namespace tenon
