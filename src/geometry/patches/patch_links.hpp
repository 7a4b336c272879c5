// SPDX-License-Identifier: BSD-2-Clause
// PatchLinks: how the patches of a field are joined, for example the tiles of a box, the faces of a
// cubed sphere, or the fold of a tripolar grid.
//
// A field on patches is a tensor [patch, channel, spatial...], whose patches have equal extents.
// Links define for each element beyond the edge of a patch (a ghost) the element that it copies,
// for any extents and any halo width. The same links are therefore used for the fields of all
// layers of a network, also after pooling. All ranks have the same links, and compute their
// messages from them without communication.
//
// For example, two patches of 4 x 4 elements, where the high side of dimension 1 of patch 0 (side
// 3) is joined to the low side of dimension 1 of patch 1 (side 2): the ghost [2, 4] of patch 0
// copies the element [2, 0] of patch 1, and the ghost [2, -1] of patch 1 copies [2, 3] of patch 0.
//
// Where two patches meet rotated, the components of a vector along the spatial dimensions are
// permuted and change sign accordingly.
#pragma once

#include "geometry/mesh/index_map.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tenon {

// The neighbour at a side. Sides are numbered from the first spatial dimension, the low side first:
// 2 d + (high ? 1 : 0).
struct PatchSide {
  Index patch = -1; // Neighbouring patch, or -1 for none.
  int side = 0;     // Side of the neighbour.
  // Bits 1 and 2: the first (second) dimension along this side is reversed in the neighbour. Bit 4:
  // these two dimensions are exchanged. Bit 8: the patches meet on the last points of both, and in
  // a reversed dimension of n elements element i meets element n - i, as where a grid is folded
  // about a point; element 0 meets the first element of the patch after the neighbour.
  int turned = 0;
  bool operator==(const PatchSide&) const = default;
};

// The element that an element beyond a patch copies.
struct LinkedElement {
  Index patch;
  std::vector<Index> index;
  int factor = 1; // 1 or -1
  // The component of a vector along d is that along dims[d] of the source, times signs[d] and the
  // factor.
  std::vector<int> dims, signs;
};

class PatchLinks {
public:
  virtual ~PatchLinks() = default;

  // [patches], S(0): the number of patches on each rank.
  const Layout& pattern() const noexcept { return pattern_; }
  Index patches() const { return pattern_.shape().front(); }
  int spatialRank() const noexcept { return spatialRank_; }

  // The source of an element in or beyond a patch of these extents; nothing if no patch is there,
  // which means zero.
  virtual std::optional<LinkedElement> source(Index patch, const std::vector<Index>& index,
                                              const Shape& extents) const = 0;
  // The patches from which the ghosts of `patches` can be copied, and those whose ghosts can be
  // copies of elements of `patches`. A ghost is at most crossings[d] patches away in dimension d.
  // Sorted; includes `patches`.
  virtual std::vector<Index> around(const std::vector<Index>& patches,
                                    const std::vector<Index>& crossings) const = 0;
  // True if some patch has a neighbour along a dimension, or patches do not span the field in it.
  virtual bool joins(int dim) const = 0;
  // True if some patches meet on points, which requires equal extents.
  virtual bool meetOnPoints() const { return false; }
  // Throws TENON_ERR_SHAPE, with both patches, if patches of these extents do not fit together as
  // linked, or if the whole has more elements than an index can count.
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

// The pattern with that many patches on each rank.
Layout patchPattern(const std::vector<Index>& counts);
// A 64-bit hash of numbers, for the texts by which ranks compare their links: equal links have
// equal texts, and different ones have different texts unless their hashes collide.
std::string linksDigest(const std::vector<Index>& numbers);

// The boundary modes at the ends of a box that is divided into tiles.
struct BoxEnds {
  Boundary low = Boundary::Zero, high = Boundary::Zero;
};

// Tiles of a box. The patches of each rank are at these places in the grid of tiles, row-major;
// places without a patch are zero, such as land. Throws TENON_ERR_ARG if a place is outside the
// grid or is used twice, and for boundary modes without values.
PatchLinksPtr linkTiles(const Shape& tiles, const std::vector<std::vector<Index>>& placesOfRanks,
                        const std::vector<BoxEnds>& ends);
// Patches joined at their sides: for each patch of each rank, the 2 * spatialRank neighbours of its
// sides. Throws TENON_ERR_ARG, with both sides, unless neighbours refer to each other consistently.
PatchLinksPtr linkSides(int spatialRank, const std::vector<std::vector<PatchSide>>& sidesOfRanks);

// Links as used by the maps of a layer.
struct PatchRule {
  PatchLinksPtr links;
  // Channels that are components of vectors along the spatial dimensions, vector after vector.
  std::vector<int> vectors = {};
};

// The map from a field [patch, channel, spatial...] to the same with halos, as seen from a rank.
// Linked halos are filled by the rule, other halos by their boundary modes.
IndexMapPtr makeLinkedMap(const PatchRule& rule, const Layout& from, const Layout& to, int rank);

} // namespace tenon
