// SPDX-License-Identifier: BSD-2-Clause
// Links of patches, made from the lists of all ranks, and the object behind a TenonLinks.
#pragma once

#include "comm/communicator.hpp"
#include "geometry/patches/patch_links.hpp"
#include "sys/errors/object.hpp"

namespace tenon {

// Collective. Each rank passes the places of its own patches, or the sides that touch them, and
// afterwards has those of all ranks, a few numbers per patch: links are a value that is equal on
// all ranks. Throws on all ranks the errors of linkTiles() and linkSides().
PatchLinksPtr makeTileLinks(Communicator& comm, const Shape& tiles,
                            const std::vector<BoxEnds>& ends, const std::vector<Index>& places);
PatchLinksPtr makeSideLinks(Communicator& comm, int spatialRank,
                            const std::vector<PatchSide>& sides);

// The object of the handle TenonLinks.
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
