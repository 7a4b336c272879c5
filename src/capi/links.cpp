// SPDX-License-Identifier: BSD-2-Clause
// TenonLinks: which sides of patches meet, if a field consists of patches (blocks of equal extents)
// on several ranks. The halo exchange between patches follows these links.
//   CreateFromTiles   a box that is cut into a grid of tiles, of which each rank has some
//   CreateFromSides   patches that meet side by side, such as the faces of a cubed sphere
//   GetLayout         the layout of a field [patches, ...] on these patches
//   TenonLayerSetLinks   gives the links to a layer
// Example: two tiles in one dimension x on a periodic ring. The sides of a patch are numbered 0
// (lower end) and 1 (upper end), so CreateFromSides gets, for each side of patches 0 and 1, the
// neighbour:
//   patches {1, 1, 0, 0}    sides {1, 0, 1, 0}
// The creation is collective. The grid of tiles and its boundary modes must be the same on all
// ranks, which is checked. The list of a rank's own tiles or sides differs between ranks. The calls
// are declared in tenon/links.h.
#include "capi/layer/create.hpp"
#include "comm/layout_object.hpp"
#include "linop/exchange/make_links.hpp"

#include <tenon/links.h>

using namespace tenon;

namespace {

void checkPatchDimensions(int ndim) {
  if (ndim < 1 || ndim > 3)
    throw Error(TENON_ERR_ARG,
                fmt::format("ndim is {}; patches have 1 to 3 spatial dimensions", ndim));
}

// Creates the object and its handle. The allocation is collective, since it can fail on one rank.
void giveLinks(const CommPtr& comm, TenonLinks* links, const PatchLinksPtr& patchLinks) {
  giveHandle(links, collectively(*comm, [&] { return makeRef<LinksObject>(comm, patchLinks); }));
}

// A box that is cut into tiles: their number, and the boundary modes of the box, per dimension.
struct TiledBox {
  Shape tiles;
  std::vector<BoxEnds> ends;

  std::string describe() const {
    std::string text = fmt::format("{} tiles", fmt::join(tiles, "x"));
    for (const BoxEnds& end : ends)
      text += fmt::format(", {}/{}", boundaryName(end.low), boundaryName(end.high));
    return text;
  }
};

// Returns a checked copy of the arguments that describe the box; `high` may be NULL, which means
// `low`.
TiledBox tiledBox(int ndim, const TenonInt* tiles, const TenonBoundary* low,
                  const TenonBoundary* high) {
  checkPatchDimensions(ndim);
  TiledBox box{listOf(tiles, ndim, "tiles"), {}};
  Index count = 1;
  for (Index number : box.tiles) {
    if (number < 1)
      throw Error(TENON_ERR_ARG, fmt::format("tiles is [{}]; pass at least 1 in each dimension",
                                             fmt::join(box.tiles, ",")));
    // Only for the check that the number of tiles fits into a 64-bit integer.
    count = checkedProduct(count, number, "the number of tiles");
  }
  const auto first = listOf(low, ndim, "low"), last = high ? listOf(high, ndim, "high") : first;
  for (int d = 0; d < ndim; ++d)
    box.ends.push_back({boundaryOf(first[d], "low"), boundaryOf(last[d], "high")});
  return box;
}

// Returns the sides of this rank's patches, 2 ndim for each patch. Side i of the list meets side
// sides[i] of patch patches[i], which is negative if there is none; turned[i] says how the two
// sides are rotated against each other (PatchSide::turned). `turned` may be NULL, which means 0.
std::vector<PatchSide> patchSides(int ndim, TenonInt count, const TenonInt* patches,
                                  const int* sides, const int* turned) {
  checkPatchDimensions(ndim);
  const auto patch = listOf(patches, count, "patches");
  const auto side = listOf(sides, count, "sides");
  const auto turn = turned ? listOf(turned, count, "turned") : std::vector<int>(side.size(), 0);
  if (count % (2 * ndim) != 0)
    throw Error(TENON_ERR_ARG,
                fmt::format("count is {}, which is no multiple of {}; a patch has so "
                            "many sides in {} dimensions",
                            count, 2 * ndim, ndim));
  std::vector<PatchSide> list;
  for (std::size_t i = 0; i < patch.size(); ++i)
    list.push_back(patch[i] < 0 ? PatchSide{} : PatchSide{patch[i], side[i], turn[i]});
  return list;
}

} // namespace

TenonErrorCode TenonLinksCreateFromTiles(MPI_Comm comm, int ndim, const TenonInt tiles[],
                                         const TenonBoundary low[], const TenonBoundary high[],
                                         TenonInt count, const TenonInt places[],
                                         TenonLinks* links) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr communicator = Communicator::of(comm);
    // The ranks first compare the box, then check their own lists, then find the links together.
    const TiledBox box = collectively(
        *communicator, "the tiles",
        [&] {
          required(links, "links");
          return tiledBox(ndim, tiles, low, high);
        },
        [](const TiledBox& tiled) { return tiled.describe(); });
    const std::vector<Index> ownTiles =
        collectively(*communicator, [&] { return listOf(places, count, "places"); });
    giveLinks(communicator, links, makeTileLinks(*communicator, box.tiles, box.ends, ownTiles));
  });
}

TenonErrorCode TenonLinksCreateFromSides(MPI_Comm comm, int ndim, TenonInt count,
                                         const TenonInt patches[], const int sides[],
                                         const int turned[], TenonLinks* links) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr communicator = Communicator::of(comm);
    collectively(
        *communicator, "the number of dimensions",
        [&] {
          required(links, "links");
          checkPatchDimensions(ndim);
          return true;
        },
        [&](bool) { return fmt::format("ndim {}", ndim); });
    const std::vector<PatchSide> ownSides = collectively(
        *communicator, [&] { return patchSides(ndim, count, patches, sides, turned); });
    giveLinks(communicator, links, makeSideLinks(*communicator, ndim, ownSides));
  });
}

TenonErrorCode TenonLinksGetLayout(TenonLinks links, int ndim, const TenonInt shape[],
                                   TenonLayout* layout) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr comm = commOf("links", links);
    auto created = collectively(
        *comm, "the shape",
        [&] {
          required(layout, "layout");
          return makeRef<LayoutObject>(
              comm,
              givenRowsLayout(deref(links, "links").links()->pattern(), ndim, shape, "patches"));
        },
        [](const auto& object) { return object->layout().describe(); });
    giveHandle(layout, std::move(created));
  });
}

TenonErrorCode TenonLayerSetLinks(TenonLayer layer, TenonLinks links) noexcept {
  return specifyLayer(__func__, layer, [&](Layer& l) {
    const LinksObject& linksObject = deref(links, "links");
    checkOnComm(linksObject, l, "links");
    l.setLinks(linksObject.links());
  });
}

TenonErrorCode TenonLinksDestroy(TenonLinks* links) noexcept {
  return guard(__func__, [&] { destroy(links, "links"); });
}
