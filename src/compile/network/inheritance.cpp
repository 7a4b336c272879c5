// SPDX-License-Identifier: BSD-2-Clause
// Hands settings of containers down to their layers (inheritance.hpp). With containers in
// containers it is called for each pair from the outermost inwards, or for a layer from its
// innermost container outwards: a value that is there already stays.
#include "compile/network/inheritance.hpp"

namespace tenon {

std::span<const char* const> handedDownSettings() {
  static constexpr const char* kNames[] = {"data_type", "space",      "storage",
                                           "backend",   "saved_type", "initializer"};
  return kNames;
}

void handDownSettings(const Declaration& container, Declaration& layer) {
  for (const char* name : handedDownSettings())
    layer.inherit(name, container);
  if (layer.settings().has("halo_depth") && container.settings().has("halo_depth"))
    layer.inherit("halo_depth", container);
}

void handDownLists(const MeshLists& container, const Declaration& layer, MeshLists& lists) {
  if (layer.takesLists())
    lists.inherit(container);
  else
    lists.inheritLinks(container);
}

} // namespace tenon
