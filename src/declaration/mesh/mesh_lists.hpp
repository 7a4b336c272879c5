// SPDX-License-Identifier: BSD-2-Clause
// Mesh lists of a layer: edges and index maps that a program sets by the names in the layers'
// settings, and the links between patches of a field. A container passes its lists to its layers.
#pragma once

#include "geometry/mesh/edges.hpp"
#include "geometry/patches/patch_links.hpp"

#include <map>
#include <string>

namespace tenon {

class MeshLists {
public:
  void set(const std::string& name, EdgesPtr edges) { edges_[name] = std::move(edges); }
  void set(const std::string& name, IndexMapPtr map) { maps_[name] = std::move(map); }
  void set(PatchLinksPtr links) { links_ = std::move(links); }
  // Adds the container's lists whose names are not set yet.
  void inherit(const MeshLists& container);
  void inheritLinks(const MeshLists& container);

  // The list with this name, or null if there is none.
  EdgesPtr edges(const std::string& name) const { return find(edges_, name); }
  IndexMapPtr map(const std::string& name) const { return find(maps_, name); }
  const PatchLinksPtr& links() const noexcept { return links_; }
  // A text that is equal on all ranks; empty if there are no lists.
  std::string describe() const;

private:
  template <class T>
  using ByName = std::map<std::string, T>;
  template <class T>
  static T find(const ByName<T>& lists, const std::string& name) {
    const auto found = lists.find(name);
    return found == lists.end() ? nullptr : found->second;
  }

  ByName<EdgesPtr> edges_;
  ByName<IndexMapPtr> maps_;
  PatchLinksPtr links_;
};

} // namespace tenon
