// SPDX-License-Identifier: BSD-2-Clause
// The two kinds of links. Tiles know their place in a box, so that beyond them lies what the box has there, corners and
// the modes of its ends included. Patches that meet side by side are walked over: an element beyond several sides is
// reached by crossing them in any order, and where two ways end at different elements, as at the corners of a cube,
// there is no such element.
#include "geometry/patch_links.hpp"

#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace tenon {

namespace {

template <class T>
Layout patternOf(const std::vector<std::vector<T>>& ofRanks, std::size_t each) {
  std::vector<Index> cuts{0};
  for (const std::vector<T>& list : ofRanks)
    cuts.push_back(cuts.back() + static_cast<Index>(list.size() / each));
  return Layout({.shape = {cuts.back()},
                 .grid = Grid::make({static_cast<int>(ofRanks.size())}),
                 .properties = {Property::shard(0)},
                 .cuts = {cuts}});
}

// A hash of numbers, so that texts of equal links are equal and those of others differ.
class Digest {
public:
  void add(Index number) {
    for (int i = 0; i < 8; ++i, number >>= 8)
      hash_ = (hash_ ^ static_cast<std::uint64_t>(number & 0xff)) * 1099511628211ULL;
  }
  std::string text() const { return fmt::format("{:016x}", hash_); }

private:
  std::uint64_t hash_ = 14695981039346656037ULL;
};

class TileLinks final : public PatchLinks {
public:
  TileLinks(Layout pattern, Shape tiles, std::vector<Index> placeOf, std::vector<Index> patchAt,
            std::vector<BoxEnds> ends)
      : PatchLinks(std::move(pattern), static_cast<int>(tiles.size())), tiles_(std::move(tiles)),
        placeOf_(std::move(placeOf)), patchAt_(std::move(patchAt)), ends_(std::move(ends)) {}

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
    found.patch = patchAt_[flattened(place.data(), tiles_)];
    return found.patch < 0 ? std::nullopt : std::optional(std::move(found));
  }

  std::vector<Index> around(const std::vector<Index>& patches,
                            const std::vector<Index>& crossings) const override {
    std::vector<Index> found;
    for (Index patch : patches) {
      const std::vector<Index> place = unflattened(placeOf_[patch], tiles_);
      Shape window;
      for (std::size_t d = 0; d < crossings.size(); ++d)
        window.push_back(2 * std::min(crossings[d], tiles_[d]) + 1);
      for (Index i = 0; i < elements(window); ++i)
        if (const Index at = patchNear(place, unflattened(i, window), window); at >= 0)
          found.push_back(at);
    }
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  bool joins(int dim) const override {
    const auto isWalled = [](Boundary mode) { return mode != Boundary::Periodic; };
    return tiles_[dim] > 1 || !isWalled(ends_[dim].low) || !isWalled(ends_[dim].high);
  }

  std::string describe() const override {
    std::vector<std::string> modes;
    for (const BoxEnds& of : ends_)
      modes.push_back(of.low == of.high
                          ? boundaryName(of.low)
                          : fmt::format("{}/{}", boundaryName(of.low), boundaryName(of.high)));
    Digest digest;
    for (Index place : placeOf_)
      digest.add(place);
    return fmt::format("{} of {} tiles of a box, {} beyond it, places {}", patches(),
                       fmt::join(tiles_, "x"), joined(modes, ","), digest.text());
  }

private:
  // The patch at an offset within the window around a place, with the box taken as periodic; -1: none.
  Index patchNear(const std::vector<Index>& place, std::vector<Index> offset,
                  const Shape& window) const {
    for (std::size_t d = 0; d < offset.size(); ++d)
      offset[d] = (place[d] + offset[d] - window[d] / 2 + 2 * tiles_[d]) % tiles_[d];
    return patchAt_[flattened(offset.data(), tiles_)];
  }

  Shape tiles_;
  std::vector<Index> placeOf_; // of each patch, in the grid of tiles
  std::vector<Index> patchAt_; // at each place
  std::vector<BoxEnds> ends_;
};

class SideLinks final : public PatchLinks {
public:
  SideLinks(Layout pattern, int spatialRank, std::vector<PatchSide> sides)
      : PatchLinks(std::move(pattern), spatialRank), sides_(std::move(sides)) {
    for (Index patch = 0; patch < patches(); ++patch)
      for (int side = 0; side < 2 * spatialRank; ++side)
        checkMutual(patch, side);
    const PatchSide* fold = nullptr;
    for (const PatchSide& side : sides_) {
      if (!isOnPoints(side))
        continue;
      if (fold && fold->side != side.side)
        throw Error(TENON_ERR_ARG,
                    fmt::format("sides {} and {} of patches are folds on points; there can be one "
                                "such side",
                                fold->side, side.side));
      fold = &side;
    }
    meetOnPoints_ = fold != nullptr;
  }
  bool meetOnPoints() const override { return meetOnPoints_; }

  std::optional<LinkedElement> source(Index patch, const std::vector<Index>& index,
                                      const Shape& extents) const override {
    if (elements(extents) == 0)
      return std::nullopt;
    LinkedElement start{patch, index, 1, std::vector<int>(index.size()),
                        std::vector<int>(index.size(), 1)};
    std::iota(start.dims.begin(), start.dims.end(), 0);
    std::optional<LinkedElement> found;
    return walk(std::move(start), extents, found) ? found : std::nullopt;
  }

  std::vector<Index> around(const std::vector<Index>& patches,
                            const std::vector<Index>& crossings) const override {
    // What is mirrored about a point can lie one point beyond the patch that was entered.
    const Index steps = std::accumulate(crossings.begin(), crossings.end(), Index(0)) +
                        (meetOnPoints_ ? spatialRank() - 1 : 0);
    std::vector<Index> found = patches, edge = patches;
    std::ranges::sort(found);
    for (Index step = 0; step < steps && !edge.empty(); ++step) {
      std::vector<Index> next;
      for (Index patch : edge)
        for (int side = 0; side < 2 * spatialRank(); ++side)
          if (const Index at = meets(patch, side).patch; at >= 0)
            next.push_back(at);
      std::ranges::sort(next);
      next.erase(std::unique(next.begin(), next.end()), next.end());
      edge.clear();
      std::ranges::set_difference(next, found, std::back_inserter(edge));
      std::vector<Index> all;
      std::ranges::merge(found, edge, std::back_inserter(all));
      found = std::move(all);
    }
    return found;
  }

  bool joins(int dim) const override {
    for (Index patch = 0; patch < patches(); ++patch)
      if (meets(patch, 2 * dim).patch >= 0 || meets(patch, 2 * dim + 1).patch >= 0)
        return true;
    return false;
  }

  void checkExtents(const Shape& extents) const override {
    for (Index patch = 0; patch < patches(); ++patch)
      for (int side = 0; side < 2 * spatialRank(); ++side) {
        const PatchSide& other = meets(patch, side);
        if (other.patch < 0)
          continue;
        if (isOnPoints(other) && extents[side / 2] < 2)
          throw Error(TENON_ERR_SHAPE,
                      fmt::format("side {} of patch {} meets side {} of patch {} on points, but "
                                  "patches have extents {}; use at least 2 across it",
                                  side, patch, other.side, other.patch, fmt::join(extents, "x")));
        const std::vector<int> own = along(side), there = along(other.side);
        for (std::size_t i = 0; i < own.size(); ++i)
          if (const int to = there[partner(i, other)]; extents[own[i]] != extents[to])
            throw Error(TENON_ERR_SHAPE,
                        fmt::format("side {} of patch {} meets side {} of patch {}, which runs "
                                    "along another dimension, but patches have extents {}; use "
                                    "patches as long in both",
                                    side, patch, other.side, other.patch, fmt::join(extents, "x")));
      }
  }

  std::string describe() const override {
    Digest digest;
    Index joinedSides = 0;
    for (const PatchSide& side : sides_) {
      digest.add(side.patch);
      digest.add(side.side);
      digest.add(side.turned);
      joinedSides += side.patch >= 0 ? 1 : 0;
    }
    return fmt::format("{} of {} spatial dimensions, {} linked, {}",
                       counted(patches(), "patch", "patches"), spatialRank(),
                       counted(joinedSides, "side"), digest.text());
  }

private:
  const PatchSide& meets(Index patch, int side) const {
    return sides_[static_cast<std::size_t>(patch * 2 * spatialRank() + side)];
  }
  // The dimensions along a side.
  std::vector<int> along(int side) const {
    std::vector<int> dims;
    for (int d = 0; d < spatialRank(); ++d)
      if (d != side / 2)
        dims.push_back(d);
    return dims;
  }
  // Which of the dimensions along the other side the i-th of this one runs along.
  static std::size_t partner(std::size_t i, const PatchSide& other) {
    return other.turned & 4 ? 1 - i : i;
  }
  static bool runsBack(std::size_t i, const PatchSide& other) { return other.turned >> i & 1; }
  static bool isOnPoints(const PatchSide& other) { return other.patch >= 0 && other.turned & 8; }

  void checkMutual(Index patch, int side) const {
    const PatchSide& other = meets(patch, side);
    if (other.patch < 0)
      return;
    const std::size_t dims = along(side).size();
    const int most = dims == 0 ? 0 : dims == 1 ? 1 : 7;
    if (other.patch >= patches() || other.side < 0 || other.side >= 2 * spatialRank() ||
        other.turned < 0 || (other.turned & ~8) > most)
      throw Error(TENON_ERR_ARG,
                  fmt::format("side {} of patch {} is linked to side {} of patch {}, turned {}; "
                              "there are {} with {}, and turned is 0 to {}, or 8 more on points",
                              side, patch, other.side, other.patch, other.turned,
                              counted(patches(), "patch", "patches"),
                              counted(2 * spatialRank(), "side"), most));
    // Along one dimension elements that are mirrored come to lie inside sooner or later.
    if (isOnPoints(other) && other.side != side)
      throw Error(TENON_ERR_ARG,
                  fmt::format("side {} of patch {} meets side {} of patch {} on points; a fold on "
                              "points joins the same side of both",
                              side, patch, other.side, other.patch));
    int turned = other.turned & (4 | 8);
    for (std::size_t i = 0; i < dims; ++i)
      if (runsBack(i, other))
        turned |= 1 << partner(i, other);
    const PatchSide wanted{patch, side, turned}, given = meets(other.patch, other.side);
    if (!(given == wanted))
      throw Error(
          TENON_ERR_ARG,
          fmt::format("side {} of patch {} is linked to side {} of patch {}, turned {}, but that "
                      "one to {}; expected side {} of patch {}, turned {}",
                      side, patch, other.side, other.patch, other.turned,
                      given.patch < 0 ? std::string("none")
                                      : fmt::format("side {} of patch {}, turned {}", given.side,
                                                    given.patch, given.turned),
                      wanted.side, wanted.patch, wanted.turned));
  }

  // Whether all ways that end at an element end at the same; one more is in `found`.
  bool walk(LinkedElement at, const Shape& extents, std::optional<LinkedElement>& found) const {
    bool isInside = true;
    for (int d = 0; d < spatialRank(); ++d) {
      if (at.index[d] >= 0 && at.index[d] < extents[d])
        continue;
      isInside = false;
      const int side = 2 * d + (at.index[d] < 0 ? 0 : 1);
      if (meets(at.patch, side).patch >= 0 && !walk(crossed(at, side, extents), extents, found))
        return false;
    }
    if (!isInside)
      return true;
    if (found)
      return found->patch == at.patch && found->index == at.index;
    found = std::move(at);
    return true;
  }

  LinkedElement crossed(const LinkedElement& from, int side, const Shape& extents) const {
    const PatchSide& other = meets(from.patch, side);
    const int normal = side / 2, entered = other.side / 2;
    const bool leavesHigh = side % 2 == 1, entersHigh = other.side % 2 == 1;
    const Index depth = leavesHigh ? from.index[normal] - extents[normal] : -1 - from.index[normal];
    const std::size_t dims = from.index.size();
    LinkedElement to{other.patch, std::vector<Index>(dims), from.factor, from.dims, from.signs};
    const Index onPoints = isOnPoints(other) ? 1 : 0;
    to.index[entered] = entersHigh ? extents[entered] - 1 - depth - onPoints : depth + onPoints;
    // Where each dimension goes on, and which way.
    std::vector<int> onward(dims), sign(dims, 1);
    onward[normal] = entered;
    sign[normal] = leavesHigh == entersHigh ? -1 : 1;
    const std::vector<int> own = along(side), there = along(other.side);
    for (std::size_t i = 0; i < own.size(); ++i) {
      const int d = own[i], e = there[partner(i, other)];
      onward[d] = e;
      sign[d] = runsBack(i, other) ? -1 : 1;
      to.index[e] = runsBack(i, other) ? extents[d] - 1 - from.index[d] + onPoints : from.index[d];
    }
    for (std::size_t c = 0; c < dims; ++c) {
      to.signs[c] *= sign[from.dims[c]];
      to.dims[c] = onward[from.dims[c]];
    }
    return to;
  }

  std::vector<PatchSide> sides_; // [patches, sides]
  bool meetOnPoints_ = false;
};

} // namespace

PatchLinksPtr linkTiles(const Shape& tiles, const std::vector<std::vector<Index>>& placesOfRanks,
                        const std::vector<BoxEnds>& ends) {
  std::vector<Index> placeOf, patchAt(static_cast<std::size_t>(elements(tiles)), -1);
  for (std::size_t rank = 0; rank < placesOfRanks.size(); ++rank)
    for (Index place : placesOfRanks[rank]) {
      if (place < 0 || place >= elements(tiles))
        throw Error(TENON_ERR_ARG,
                    fmt::format("rank {} has a tile at place {} of {} tiles; pass 0 "
                                "to {}, counted row by row",
                                rank, place, fmt::join(tiles, "x"), elements(tiles) - 1));
      if (patchAt[place] >= 0)
        throw Error(
            TENON_ERR_ARG,
            fmt::format("rank {} has a tile at {} of {} tiles, where patch {} lies already; "
                        "give each tile to one rank",
                        rank, fmt::join(unflattened(place, tiles), ","), fmt::join(tiles, "x"),
                        patchAt[place]));
      patchAt[place] = static_cast<Index>(placeOf.size());
      placeOf.push_back(place);
    }
  for (const BoxEnds& of : ends)
    for (Boundary mode : {of.low, of.high})
      if (mode == Boundary::None || isCallers(mode) || mode == Boundary::Linked)
        throw Error(TENON_ERR_ARG,
                    fmt::format("the boundary mode of an end of the box is {}; use zero, periodic, "
                                "reflect, replicate, symmetric, odd or odd_point",
                                boundaryName(mode)));
  return std::make_shared<const TileLinks>(patternOf(placesOfRanks, 1), tiles, std::move(placeOf),
                                           std::move(patchAt), ends);
}

PatchLinksPtr linkSides(int spatialRank, const std::vector<std::vector<PatchSide>>& sidesOfRanks) {
  std::vector<PatchSide> all;
  for (const std::vector<PatchSide>& sides : sidesOfRanks)
    all.insert(all.end(), sides.begin(), sides.end());
  return std::make_shared<const SideLinks>(
      patternOf(sidesOfRanks, static_cast<std::size_t>(2 * spatialRank)), spatialRank,
      std::move(all));
}

} // namespace tenon
