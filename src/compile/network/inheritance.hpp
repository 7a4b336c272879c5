// SPDX-License-Identifier: BSD-2-Clause
// What a container (a sequence or graph of layers) hands down to the layers in it: settings of
// arithmetic and memory, and the lists of a mesh. Set-up hands down before it compiles, and the
// planner before it searches, so both know the same layers.
#pragma once

#include "declaration/core/declaration.hpp"

#include <span>

namespace tenon {

// The names of the settings that a container hands down to a layer for which they are not set. All
// types have these settings.
std::span<const char* const> handedDownSettings();

// Hands these settings down, and halo_depth to containers.
void handDownSettings(const Declaration& container, Declaration& layer);

// Hands the lists of a container (edges, index maps, links of patches) down to `lists`, the lists
// of the layer. Edges and index maps are handed down to types on meshes only, links to every type
// that can work on patches.
void handDownLists(const MeshLists& container, const Declaration& layer, MeshLists& lists);

} // namespace tenon
