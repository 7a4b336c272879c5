// SPDX-License-Identifier: BSD-2-Clause
// What kinds of links share, and patches that meet side by side. These are walked over: an element
// beyond several sides is reached by crossing them in any order, and where two ways end at
// different elements, as at the corners of a cube, there is no such element.
#include "geometry/patches/patch_links.hpp"

#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>

namespace tenon {

Layout patchPattern(const std::vector<Index>& counts) {
  std::vector<Index> cuts{0};
  for (Index count : counts)
    cuts.push_back(cuts.back() + count);
  return Layout({.shape = {cuts.back()},
                 .grid = Grid::make({static_cast<int>(counts.size())}),
                 .properties = {Property::shard(0)},
                 .cuts = {cuts}});
}

std::string linksDigest(const std::vector<Index>& numbers) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (Index number : numbers)
    for (int i = 0; i < 8; ++i, number >>= 8)
      hash = (hash ^ static_cast<std::uint64_t>(number & 0xff)) * 1099511628211ULL;
  return fmt::format("{:016x}", hash);
}

namespace {

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
    if (std::ranges::find(extents, 0) != extents.end())
      return std::nullopt;
    LinkedElement start{patch, index, 1, std::vector<int>(index.size()),
                        std::vector<int>(index.size(), 1)};
    std::iota(start.dims.begin(), start.dims.end(), 0);
    std::optional<LinkedElement> found;
    // Ways that meet go on alike, so that each element beyond several sides is left once.
    std::set<std::pair<Index, std::vector<Index>>> left;
    std::vector<LinkedElement> ahead{std::move(start)};
    while (!ahead.empty()) {
      const LinkedElement at = std::move(ahead.back());
      ahead.pop_back();
      const std::vector<int> sides = sidesBeyond(at, extents);
      if (sides.empty() && found && (found->patch != at.patch || found->index != at.index))
        return std::nullopt;
      if (sides.empty() && !found)
        found = at;
      if (sides.size() > 1 && !left.emplace(at.patch, at.index).second)
        continue;
      for (std::size_t i = sides.size(); i-- > 0;)
        if (meets(at.patch, sides[i]).patch >= 0)
          ahead.push_back(crossed(at, sides[i], extents));
    }
    return found;
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
    std::vector<Index> numbers;
    Index joinedSides = 0;
    for (const PatchSide& side : sides_) {
      numbers.insert(numbers.end(), {side.patch, side.side, side.turned});
      joinedSides += side.patch >= 0 ? 1 : 0;
    }
    return fmt::format("{} of {} spatial dimensions, {} linked, {}",
                       counted(patches(), "patch", "patches"), spatialRank(),
                       counted(joinedSides, "side"), linksDigest(numbers));
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

  // The sides that an element lies beyond.
  std::vector<int> sidesBeyond(const LinkedElement& at, const Shape& extents) const {
    std::vector<int> sides;
    for (int d = 0; d < spatialRank(); ++d)
      if (at.index[d] < 0 || at.index[d] >= extents[d])
        sides.push_back(2 * d + (at.index[d] < 0 ? 0 : 1));
    return sides;
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

PatchLinksPtr linkSides(int spatialRank, const std::vector<std::vector<PatchSide>>& sidesOfRanks) {
  std::vector<PatchSide> all;
  std::vector<Index> counts;
  for (const std::vector<PatchSide>& sides : sidesOfRanks) {
    all.insert(all.end(), sides.begin(), sides.end());
    counts.push_back(static_cast<Index>(sides.size()) / (2 * spatialRank));
  }
  return std::make_shared<const SideLinks>(patchPattern(counts), spatialRank, std::move(all));
}

} // namespace tenon
