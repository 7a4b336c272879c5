// SPDX-License-Identifier: BSD-2-Clause
// The lists of a layer on a mesh by name: edges, index maps, and the links between the patches of a
// multi-block grid. A program sets them on a layer or on a container, which passes them to its
// layers (inherit); a layer's own list has precedence. The text of describe() only has properties
// that are equal on all ranks, since set-up compares it between them.
#include "declaration/mesh/mesh_lists.hpp"

#include <fmt/format.h>

namespace tenon {

void MeshLists::inherit(const MeshLists& container) {
  edges_.insert(container.edges_.begin(), container.edges_.end());
  maps_.insert(container.maps_.begin(), container.maps_.end());
  inheritLinks(container);
}

void MeshLists::inheritLinks(const MeshLists& container) {
  if (!links_)
    links_ = container.links_;
}

std::string MeshLists::describe() const {
  std::string text;
  const auto add = [&](const auto& lists) {
    for (const auto& [name, list] : lists)
      text += fmt::format(", \"{}\": {}", name, list->describe());
  };
  add(edges_);
  add(maps_);
  if (links_)
    text += ", links: " + links_->describe();
  return text;
}

} // namespace tenon
