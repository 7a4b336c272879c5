// SPDX-License-Identifier: BSD-2-Clause
// Tiles know their place in a box, so that beyond them lies what the box has there, corners and the
// modes of its ends included. Each rank knows the places of all patches, and none without a patch:
// a box is as large as numbers allow.
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
  // `sorted`: the places in their order, each with its patch.
  TileLinks(Layout pattern, Shape tiles, std::vector<std::pair<Index, Index>> sorted,
            std::vector<BoxEnds> ends)
      : PatchLinks(std::move(pattern), static_cast<int>(tiles.size())), tiles_(std::move(tiles)),
        placeOf_(sorted.size()), sorted_(std::move(sorted)), ends_(std::move(ends)) {
    for (const auto& [place, patch] : sorted_)
      placeOf_[patch] = place;
  }

  std::optional<LinkedElement> source(Index patch, const std::vector<Index>& index,
                                      const Shape& extents) const override {
    LinkedElement found{-1, std::vector<Index>(index.size()), 1, std::vector<int>(index.size()),
                        std::vector<int>(index.size(), 1)};
    std::iota(found.dims.begin(), found.dims.end(), 0);
    std::vector<Index> place = unflattened(placeOf_[patch], tiles_);
    for (std::size_t d = 0; d < index.size(); ++d) {
      const Index extent = extents[d] * tiles_[d], at = place[d] * extents[d] + index[d];
      const auto from = extensionSource(at, extent, ends_[d].low, ends_[d].high);
      if (!from)
        return std::nullopt;
      found.factor *= extensionSign(at, extent, ends_[d].low, ends_[d].high);
      place[d] = *from / extents[d];
      found.index[d] = *from % extents[d];
    }
    found.patch = patchAt(flattened(place.data(), tiles_));
    return found.patch < 0 ? std::nullopt : std::optional(std::move(found));
  }

  std::vector<Index> around(const std::vector<Index>& patches,
                            const std::vector<Index>& crossings) const override {
    if (patches.empty())
      return {};
    Shape window;
    Index size = 1; // of the window, as far as it is smaller than the list of all patches
    for (std::size_t d = 0; d < crossings.size(); ++d) {
      window.push_back(crossings[d] < tiles_[d] / 2 ? 2 * crossings[d] + 1 : tiles_[d]);
      size = window[d] > this->patches() / size ? this->patches() : size * window[d];
    }
    std::vector<bool> isFound(static_cast<std::size_t>(this->patches()), false);
    Index missing = this->patches();
    const auto find = [&](Index patch) {
      if (patch >= 0 && !isFound[patch]) {
        isFound[patch] = true;
        --missing;
      }
    };
    for (std::size_t i = 0; i < patches.size() && missing > 0; ++i) {
      const std::vector<Index> place = unflattened(placeOf_[patches[i]], tiles_);
      for (Index n = 0; n < size; ++n)
        if (size < this->patches())
          find(patchNear(place, unflattened(n, window), window));
        else if (isNear(place, unflattened(placeOf_[n], tiles_), crossings))
          find(n);
    }
    std::vector<Index> found;
    for (Index patch = 0; patch < this->patches(); ++patch)
      if (isFound[patch])
        found.push_back(patch);
    return found;
  }

  bool joins(int dim) const override {
    const auto isWalled = [](Boundary mode) { return mode != Boundary::Periodic; };
    return tiles_[dim] > 1 || !isWalled(ends_[dim].low) || !isWalled(ends_[dim].high);
  }

  // The extents of the box are indices of elements, though no rank has all of these.
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
    for (const BoxEnds& of : ends_)
      modes.push_back(of.low == of.high
                          ? boundaryName(of.low)
                          : fmt::format("{}/{}", boundaryName(of.low), boundaryName(of.high)));
    return fmt::format("{} of {} tiles of a box, {} beyond it, places {}", patches(),
                       fmt::join(tiles_, "x"), joined(modes, ","), linksDigest(placeOf_));
  }

private:
  // -1: none.
  Index patchAt(Index place) const {
    const auto at = std::ranges::lower_bound(sorted_, std::pair(place, Index(0)));
    return at != sorted_.end() && at->first == place ? at->second : -1;
  }
  // The patch at an offset within the window around a place, with the box taken as periodic; -1:
  // none.
  Index patchNear(const std::vector<Index>& place, std::vector<Index> offset,
                  const Shape& window) const {
    for (std::size_t d = 0; d < offset.size(); ++d) {
      // Less than a box away, and in an order that no number of tiles overflows.
      const Index away = offset[d] - window[d] / 2;
      offset[d] = away < 0 ? place[d] + away + (place[d] < -away ? tiles_[d] : 0)
                  : place[d] < tiles_[d] - away ? place[d] + away
                                                : place[d] - (tiles_[d] - away);
    }
    return patchAt(flattened(offset.data(), tiles_));
  }
  // Whether a place lies so many tiles from another at most, with the box taken as periodic.
  bool isNear(const std::vector<Index>& place, const std::vector<Index>& other,
              const std::vector<Index>& crossings) const {
    for (std::size_t d = 0; d < place.size(); ++d) {
      const Index apart = std::abs(place[d] - other[d]);
      if (std::min(apart, tiles_[d] - apart) > crossings[d])
        return false;
    }
    return true;
  }

  Shape tiles_;
  std::vector<Index> placeOf_; // of each patch, in the grid of tiles
  std::vector<std::pair<Index, Index>> sorted_;
  std::vector<BoxEnds> ends_;
};

} // namespace

PatchLinksPtr linkTiles(const Shape& tiles, const std::vector<std::vector<Index>>& placesOfRanks,
                        const std::vector<BoxEnds>& ends) {
  std::vector<Index> counts;
  for (const std::vector<Index>& places : placesOfRanks)
    counts.push_back(static_cast<Index>(places.size()));
  Layout pattern = patchPattern(counts);
  std::vector<std::pair<Index, Index>> sorted; // places with their patches
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
  const auto twice =
      std::ranges::adjacent_find(sorted, {}, [](const auto& entry) { return entry.first; });
  if (twice != sorted.end()) {
    const auto& [place, patch] = *std::next(twice);
    const auto& cuts = pattern.cuts(0);
    throw Error(TENON_ERR_ARG,
                fmt::format("rank {} has a tile at {} of {} tiles, where patch {} lies already; "
                            "give each tile to one rank",
                            std::ranges::upper_bound(cuts, patch) - cuts.begin() - 1,
                            fmt::join(unflattened(place, tiles), ","), fmt::join(tiles, "x"),
                            twice->second));
  }
  for (const BoxEnds& of : ends)
    for (Boundary mode : {of.low, of.high})
      if (mode == Boundary::None || isUsers(mode) || mode == Boundary::Linked)
        throw Error(TENON_ERR_ARG,
                    fmt::format("the boundary mode of an end of the box is {}; use zero, periodic, "
                                "reflect, replicate, symmetric, odd or odd_point",
                                boundaryName(mode)));
  return std::make_shared<const TileLinks>(std::move(pattern), tiles, std::move(sorted), ends);
}

} // namespace tenon
