// SPDX-License-Identifier: BSD-2-Clause
// Links of patches. The tiles of a box are the same on all ranks and are compared; which of them a
// rank has is its own matter.
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

void giveLinks(const CommPtr& comm, TenonLinks* links, const PatchLinksPtr& made) {
  give(links, collectively(*comm, [&] { return makeRef<LinksObject>(comm, made); }));
}

struct GivenBox {
  Shape tiles;
  std::vector<BoxEnds> ends;

  std::string describe() const {
    std::string text = fmt::format("{} tiles", fmt::join(tiles, "x"));
    for (const BoxEnds& of : ends)
      text += fmt::format(", {}/{}", boundaryName(of.low), boundaryName(of.high));
    return text;
  }
};

GivenBox givenBox(int ndim, const TenonInt* tiles, const TenonBoundary* low,
                  const TenonBoundary* high) {
  checkPatchDimensions(ndim);
  GivenBox box{listOf(tiles, ndim, "tiles"), {}};
  Index count = 1;
  for (Index number : box.tiles) {
    if (number < 1)
      throw Error(TENON_ERR_ARG, fmt::format("tiles is [{}]; pass at least 1 in each dimension",
                                             fmt::join(box.tiles, ",")));
    count = checkedProduct(count, number, "the number of tiles");
  }
  const auto first = listOf(low, ndim, "low"), last = high ? listOf(high, ndim, "high") : first;
  for (int d = 0; d < ndim; ++d)
    box.ends.push_back({boundaryOf(first[d], "low"), boundaryOf(last[d], "high")});
  return box;
}

std::vector<PatchSide> givenSides(int ndim, TenonInt count, const TenonInt* patches,
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
  std::vector<PatchSide> all;
  for (std::size_t i = 0; i < patch.size(); ++i)
    all.push_back(patch[i] < 0 ? PatchSide{} : PatchSide{patch[i], side[i], turn[i]});
  return all;
}

} // namespace

TenonErrorCode TenonLinksCreateFromTiles(MPI_Comm comm, int ndim, const TenonInt tiles[],
                                         const TenonBoundary low[], const TenonBoundary high[],
                                         TenonInt count, const TenonInt places[],
                                         TenonLinks* links) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr own = Communicator::of(comm);
    const GivenBox box = collectively(
        *own, "the tiles",
        [&] {
          required(links, "links");
          return givenBox(ndim, tiles, low, high);
        },
        [](const GivenBox& given) { return given.describe(); });
    const std::vector<Index> mine =
        collectively(*own, [&] { return listOf(places, count, "places"); });
    giveLinks(own, links, makeTileLinks(*own, box.tiles, box.ends, mine));
  });
}

TenonErrorCode TenonLinksCreateFromSides(MPI_Comm comm, int ndim, TenonInt count,
                                         const TenonInt patches[], const int sides[],
                                         const int turned[], TenonLinks* links) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr own = Communicator::of(comm);
    collectively(
        *own, "the number of dimensions",
        [&] {
          required(links, "links");
          checkPatchDimensions(ndim);
          return true;
        },
        [&](bool) { return fmt::format("ndim {}", ndim); });
    const std::vector<PatchSide> mine =
        collectively(*own, [&] { return givenSides(ndim, count, patches, sides, turned); });
    giveLinks(own, links, makeSideLinks(*own, ndim, mine));
  });
}

TenonErrorCode TenonLinksGetLayout(TenonLinks links, int ndim, const TenonInt shape[],
                                   TenonLayout* layout) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr comm = commOf("links", links);
    auto made = collectively(
        *comm, "the shape",
        [&] {
          required(layout, "layout");
          return makeRef<LayoutObject>(
              comm,
              givenRowsLayout(deref(links, "links").links()->pattern(), ndim, shape, "patches"));
        },
        [](const auto& one) { return one->layout().describe(); });
    give(layout, std::move(made));
  });
}

TenonErrorCode TenonLayerSetLinks(TenonLayer layer, TenonLinks links) noexcept {
  return specifyLayer(__func__, layer, [&](Layer& l) {
    const LinksObject& given = deref(links, "links");
    checkOnComm(given, l, "links");
    l.setLinks(given.links());
  });
}

TenonErrorCode TenonLinksDestroy(TenonLinks* links) noexcept {
  return guard(__func__, [&] { destroy(links, "links"); });
}
