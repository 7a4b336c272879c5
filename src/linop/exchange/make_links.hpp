// SPDX-License-Identifier: BSD-2-Clause
// Links of patches made of what each rank has of them.
#pragma once

#include "comm/communicator.hpp"
#include "geometry/patches/patch_links.hpp"
#include "sys/errors/object.hpp"

namespace tenon {

// Collective. Each rank gives the places of its own patches, or the sides that meet those of its
// own, and after that all have those of all ranks, since links are a value that is the same
// everywhere: a few numbers for each patch. Throws on all ranks alike as linkTiles() and
// linkSides() do.
PatchLinksPtr makeTileLinks(Communicator& comm, const Shape& tiles,
                            const std::vector<BoxEnds>& ends, const std::vector<Index>& places);
PatchLinksPtr makeSideLinks(Communicator& comm, int spatialRank,
                            const std::vector<PatchSide>& sides);

// What the handle TenonLinks points to.
class LinksObject : public Object {
public:
  static constexpr const char* kClass = "Links";
  LinksObject(CommPtr comm, PatchLinksPtr links)
      : Object(kClass), comm_(std::move(comm)), links_(std::move(links)) {}

  const CommPtr& comm() const noexcept { return comm_; }
  const PatchLinksPtr& links() const noexcept { return links_; }
  std::string describe() const override;

private:
  CommPtr comm_;
  PatchLinksPtr links_;
};

} // namespace tenon
