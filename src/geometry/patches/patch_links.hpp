// SPDX-License-Identifier: BSD-2-Clause
// How the patches of a field are joined: tiles of a box, faces of a cubed sphere, a tripolar grid's
// fold.
//
// A field on patches is a tensor [patch, channel, spatial...], whose patches have the same extents.
// Links say which element of which patch an element beyond a patch is a copy of. They are a rule
// for any extents and any width, so that they serve a pooled field and all windows of a network,
// and a value, the same on all ranks: each rank makes its lists of messages from it without
// communication.
//
// A vector's components along the spatial dimensions turn with the grid where two patches meet
// turned.
#pragma once

#include "geometry/mesh/index_map.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tenon {

// Sides are counted from the first spatial dimension on, the lower one first: 2 d + (high ? 1 : 0).
struct PatchSide {
  Index patch = -1; // that meets here; -1: none
  int side = 0;     // with this side of it
  // Bits 1 and 2: the first (second) of the dimensions along this side runs the other way there.
  // Bit 4: these two dimensions are exchanged. Bit 8: the two meet on the last points of both, and
  // in a dimension of n elements that runs the other way element i meets element n - i, as where a
  // grid is folded about a point: element 0 meets the first one of the patch behind the other.
  int turned = 0;
  bool operator==(const PatchSide&) const = default;
};

// What an element is a copy of.
struct LinkedElement {
  Index patch;
  std::vector<Index> index;
  int factor = 1; // 1 or -1
  // A vector's component along d is that along dims[d] there, times signs[d] and the factor.
  std::vector<int> dims, signs;
};

class PatchLinks {
public:
  virtual ~PatchLinks() = default;

  // [patches], S(0): how many each rank has.
  const Layout& pattern() const noexcept { return pattern_; }
  Index patches() const { return pattern_.shape().front(); }
  int spatialRank() const noexcept { return spatialRank_; }

  // Of an element of a patch of these extents, or beyond it; none where nothing lies there, which
  // is zero.
  virtual std::optional<LinkedElement> source(Index patch, const std::vector<Index>& index,
                                              const Shape& extents) const = 0;
  // Patches that elements beyond these can be copies of, or that have such copies of theirs, where
  // elements lie beyond at most so many patches in each dimension. Sorted, with those asked for.
  virtual std::vector<Index> around(const std::vector<Index>& patches,
                                    const std::vector<Index>& crossings) const = 0;
  // Whether something lies beyond patches along a dimension, or patches do not span the field
  // there.
  virtual bool joins(int dim) const = 0;
  // Whether some meet on points, which those of a field with other extents do not.
  virtual bool meetOnPoints() const { return false; }
  // Throws TENON_ERR_SHAPE, naming both, if patches of these extents do not meet as the links say,
  // or if what they make up has more elements than indices count.
  virtual void checkExtents(const Shape& /*extents*/) const {}
  virtual std::string describe() const = 0;

protected:
  PatchLinks(Layout pattern, int spatialRank)
      : pattern_(std::move(pattern)), spatialRank_(spatialRank) {}

private:
  Layout pattern_;
  int spatialRank_;
};

using PatchLinksPtr = std::shared_ptr<const PatchLinks>;

// The pattern of so many patches on each rank.
Layout patchPattern(const std::vector<Index>& counts);
// A hash of numbers, so that texts of equal links are equal and those of others differ.
std::string linksDigest(const std::vector<Index>& numbers);

// The boundary modes of the ends of a box that is cut into tiles.
struct BoxEnds {
  Boundary low = Boundary::Zero, high = Boundary::Zero;
};

// Tiles of a box. Each rank has the patches at these places in the grid of tiles, row by row;
// places that no rank has are zero, as land is. Throws TENON_ERR_ARG if a place is not in the grid
// or is that of two patches, and for boundary modes that give no values.
PatchLinksPtr linkTiles(const Shape& tiles, const std::vector<std::vector<Index>>& placesOfRanks,
                        const std::vector<BoxEnds>& ends);
// Patches side by side: of each patch of each rank the 2 * spatialRank sides that its own meet.
// Throws TENON_ERR_ARG, naming both sides, unless they meet each other alike.
PatchLinksPtr linkSides(int spatialRank, const std::vector<std::vector<PatchSide>>& sidesOfRanks);

// The links as a layer's maps use them.
struct PatchRule {
  PatchLinksPtr links;
  // Channels that are components of vectors along the spatial dimensions, vector after vector.
  std::vector<int> vectors = {};
};

// The map from a field [patch, channel, spatial...] to the same with halos, of which those that are
// linked hold what the rule says; as seen from a rank. Other halos are filled by their boundary
// modes.
IndexMapPtr makeLinkedMap(const PatchRule& rule, const Layout& from, const Layout& to, int rank);

} // namespace tenon
