// SPDX-License-Identifier: BSD-2-Clause
// What a layer works with beside settings and inputs: lists of a mesh that the program hands over,
// by names that the layers' settings say, and the links of the field's patches. A container hands
// its own on to its layers.
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
  // Those of the container, which count where there is none of that name.
  void inherit(const MeshLists& container);
  void inheritLinks(const MeshLists& container);

  // Null if there are none.
  EdgesPtr edges(const std::string& name) const { return find(edges_, name); }
  IndexMapPtr map(const std::string& name) const { return find(maps_, name); }
  const PatchLinksPtr& links() const noexcept { return links_; }
  // The same text on all ranks; "" where there are none.
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
