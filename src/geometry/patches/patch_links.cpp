// SPDX-License-Identifier: BSD-2-Clause
// Functions common to all kinds of links, and links of patches that are joined side by side. A
// ghost beyond one side of a patch copies an element of the neighbour at this side. For a ghost
// beyond several sides (at an edge or a corner), the sides are crossed one after the other, in all
// orders. If two orders end at different elements, as at the corners of a cube, the ghost has no
// source.
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
  // The 64-bit FNV-1a hash of the bytes, with the offset and the prime of its definition.
  std::uint64_t hash = 14695981039346656037ULL;
  for (Index number : numbers)
    for (int i = 0; i < 8; ++i, number >>= 8)
      hash = (hash ^ static_cast<std::uint64_t>(number & 0xff)) * 1099511628211ULL;
  return fmt::format("{:016x}", hash);
}

namespace {

// The bits of PatchSide::turned, except bits 1 and 2, which are tested by runsBack().
constexpr int kExchanged = 4, kOnPoints = 8;

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
    // No side is crossed yet: each component is along its own dimension.
    LinkedElement start{.patch = patch,
                        .index = index,
                        .factor = 1,
                        .dims = std::vector<int>(index.size()),
                        .signs = std::vector<int>(index.size(), 1)};
    std::iota(start.dims.begin(), start.dims.end(), 0);
    std::optional<LinkedElement> source;
    // Paths that meet continue alike, so each element beyond several sides is expanded once.
    std::set<std::pair<Index, std::vector<Index>>> visited;
    std::vector<LinkedElement> pending{std::move(start)};
    while (!pending.empty()) {
      const LinkedElement at = std::move(pending.back());
      pending.pop_back();
      const std::vector<int> sides = sidesBeyond(at, extents);
      if (sides.empty() && source && (source->patch != at.patch || source->index != at.index))
        return std::nullopt;
      if (sides.empty() && !source)
        source = at;
      if (sides.size() > 1 && !visited.emplace(at.patch, at.index).second)
        continue;
      // Without a neighbour a path ends, and finds no source.
      for (std::size_t i = sides.size(); i-- > 0;)
        if (neighbourAt(at.patch, sides[i]).patch >= 0)
          pending.push_back(crossed(at, sides[i], extents));
    }
    return source;
  }

  std::vector<Index> around(const std::vector<Index>& patches,
                            const std::vector<Index>& crossings) const override {
    // An element mirrored about a point can be one point beyond the patch that was entered, so one
    // more side may have to be crossed in each other dimension.
    const Index steps = std::accumulate(crossings.begin(), crossings.end(), Index(0)) +
                        (meetOnPoints_ ? spatialRank() - 1 : 0);
    std::vector<Index> reached = patches, frontier = patches;
    std::ranges::sort(reached);
    for (Index step = 0; step < steps && !frontier.empty(); ++step) {
      std::vector<Index> next;
      for (Index patch : frontier)
        for (int side = 0; side < 2 * spatialRank(); ++side)
          if (const Index neighbour = neighbourAt(patch, side).patch; neighbour >= 0)
            next.push_back(neighbour);
      std::ranges::sort(next);
      next.erase(std::unique(next.begin(), next.end()), next.end());
      frontier.clear();
      std::ranges::set_difference(next, reached, std::back_inserter(frontier));
      std::vector<Index> merged;
      std::ranges::merge(reached, frontier, std::back_inserter(merged));
      reached = std::move(merged);
    }
    return reached;
  }

  bool joins(int dim) const override {
    for (Index patch = 0; patch < patches(); ++patch)
      if (neighbourAt(patch, 2 * dim).patch >= 0 || neighbourAt(patch, 2 * dim + 1).patch >= 0)
        return true;
    return false;
  }

  void checkExtents(const Shape& extents) const override {
    for (Index patch = 0; patch < patches(); ++patch)
      for (int side = 0; side < 2 * spatialRank(); ++side) {
        const PatchSide& neighbour = neighbourAt(patch, side);
        if (neighbour.patch < 0)
          continue;
        // With one element across, the element after the shared point would be outside the patch.
        if (isOnPoints(neighbour) && extents[side / 2] < 2)
          throw Error(TENON_ERR_SHAPE,
                      fmt::format("side {} of patch {} meets side {} of patch {} on points, but "
                                  "patches have extents {}; use at least 2 across it",
                                  side, patch, neighbour.side, neighbour.patch,
                                  fmt::join(extents, "x")));
        const std::vector<int> ownDims = along(side), neighbourDims = along(neighbour.side);
        for (std::size_t i = 0; i < ownDims.size(); ++i)
          if (const int dim = neighbourDims[partner(i, neighbour)];
              extents[ownDims[i]] != extents[dim])
            throw Error(TENON_ERR_SHAPE,
                        fmt::format("side {} of patch {} meets side {} of patch {}, which runs "
                                    "along another dimension, but patches have extents {}; use "
                                    "patches as long in both",
                                    side, patch, neighbour.side, neighbour.patch,
                                    fmt::join(extents, "x")));
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
  const PatchSide& neighbourAt(Index patch, int side) const {
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
  // Index, among the dimensions along the neighbour's side, of the one that corresponds to the i-th
  // of this side.
  static std::size_t partner(std::size_t i, const PatchSide& neighbour) {
    return neighbour.turned & kExchanged ? 1 - i : i;
  }
  // True if the i-th dimension along this side is reversed in the neighbour.
  static bool runsBack(std::size_t i, const PatchSide& neighbour) {
    return neighbour.turned >> i & 1;
  }
  static bool isOnPoints(const PatchSide& neighbour) {
    return neighbour.patch >= 0 && neighbour.turned & kOnPoints;
  }

  // Throws unless the neighbour at this side has this patch as its neighbour, turned back.
  void checkMutual(Index patch, int side) const {
    const PatchSide& neighbour = neighbourAt(patch, side);
    if (neighbour.patch < 0)
      return;
    const std::size_t dims = along(side).size();
    // With one dimension along the side only bit 1 has a meaning, with two the bits 1, 2 and 4.
    const int maxTurned = dims == 0 ? 0 : dims == 1 ? 1 : 7;
    if (neighbour.patch >= patches() || neighbour.side < 0 || neighbour.side >= 2 * spatialRank() ||
        neighbour.turned < 0 || (neighbour.turned & ~kOnPoints) > maxTurned)
      throw Error(TENON_ERR_ARG,
                  fmt::format("side {} of patch {} is linked to side {} of patch {}, turned {}; "
                              "there are {} with {}, and turned is 0 to {}, or 8 more on points",
                              side, patch, neighbour.side, neighbour.patch, neighbour.turned,
                              counted(patches(), "patch", "patches"),
                              counted(2 * spatialRank(), "side"), maxTurned));
    // A fold on points must join equal sides: only then does mirroring along one dimension end
    // inside a patch.
    if (isOnPoints(neighbour) && neighbour.side != side)
      throw Error(TENON_ERR_ARG,
                  fmt::format("side {} of patch {} meets side {} of patch {} on points; a fold on "
                              "points joins the same side of both",
                              side, patch, neighbour.side, neighbour.patch));
    int turned = neighbour.turned & (kExchanged | kOnPoints);
    for (std::size_t i = 0; i < dims; ++i)
      if (runsBack(i, neighbour))
        turned |= 1 << partner(i, neighbour);
    const PatchSide expected{patch, side, turned},
        actual = neighbourAt(neighbour.patch, neighbour.side);
    if (!(actual == expected))
      throw Error(
          TENON_ERR_ARG,
          fmt::format("side {} of patch {} is linked to side {} of patch {}, turned {}, but that "
                      "one to {}; expected side {} of patch {}, turned {}",
                      side, patch, neighbour.side, neighbour.patch, neighbour.turned,
                      actual.patch < 0 ? std::string("none")
                                       : fmt::format("side {} of patch {}, turned {}", actual.side,
                                                     actual.patch, actual.turned),
                      expected.side, expected.patch, expected.turned));
  }

  // The sides beyond which an element is: side 2 d is the low end of dimension d, 2 d + 1 the high
  // end.
  std::vector<int> sidesBeyond(const LinkedElement& at, const Shape& extents) const {
    std::vector<int> sides;
    for (int d = 0; d < spatialRank(); ++d)
      if (at.index[d] < 0 || at.index[d] >= extents[d])
        sides.push_back(2 * d + (at.index[d] < 0 ? 0 : 1));
    return sides;
  }

  // The same element in the indices of the neighbour at a side beyond which it is.
  LinkedElement crossed(const LinkedElement& from, int side, const Shape& extents) const {
    const PatchSide& neighbour = neighbourAt(from.patch, side);
    const int normal = side / 2, entered = neighbour.side / 2;
    const bool leavesHigh = side % 2 == 1, entersHigh = neighbour.side % 2 == 1;
    // Number of elements between the side and the element.
    const Index depth = leavesHigh ? from.index[normal] - extents[normal] : -1 - from.index[normal];
    const std::size_t dims = from.index.size();
    LinkedElement to{.patch = neighbour.patch,
                     .index = std::vector<Index>(dims),
                     .factor = from.factor,
                     .dims = from.dims,
                     .signs = from.signs};
    // On points, both patches have the elements of the side itself. The first element beyond the
    // side is then the second one of the neighbour, one further in.
    const Index onPoints = isOnPoints(neighbour) ? 1 : 0;
    to.index[entered] = entersHigh ? extents[entered] - 1 - depth - onPoints : depth + onPoints;
    // The dimension in the neighbour to which each dimension corresponds, and its direction.
    std::vector<int> newDim(dims), sign(dims, 1);
    newDim[normal] = entered;
    sign[normal] = leavesHigh == entersHigh ? -1 : 1;
    const std::vector<int> ownDims = along(side), neighbourDims = along(neighbour.side);
    for (std::size_t i = 0; i < ownDims.size(); ++i) {
      const int d = ownDims[i], e = neighbourDims[partner(i, neighbour)];
      newDim[d] = e;
      sign[d] = runsBack(i, neighbour) ? -1 : 1;
      to.index[e] =
          runsBack(i, neighbour) ? extents[d] - 1 - from.index[d] + onPoints : from.index[d];
    }
    // The directions of components follow those of the dimensions.
    for (std::size_t c = 0; c < dims; ++c) {
      to.signs[c] *= sign[from.dims[c]];
      to.dims[c] = newDim[from.dims[c]];
    }
    return to;
  }

  std::vector<PatchSide> sides_; // [patches, sides]
  bool meetOnPoints_ = false;
};

} // namespace

PatchLinksPtr linkSides(int spatialRank, const std::vector<std::vector<PatchSide>>& sidesOfRanks) {
  std::vector<PatchSide> allSides;
  std::vector<Index> counts;
  for (const std::vector<PatchSide>& sides : sidesOfRanks) {
    allSides.insert(allSides.end(), sides.begin(), sides.end());
    counts.push_back(static_cast<Index>(sides.size()) / (2 * spatialRank));
  }
  return std::make_shared<const SideLinks>(patchPattern(counts), spatialRank, std::move(allSides));
}

} // namespace tenon
