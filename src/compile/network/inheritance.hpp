// SPDX-License-Identifier: BSD-2-Clause
// What a container (a sequence or graph of layers) hands down to the layers in it: settings of
// arithmetic and memory, and the lists of a mesh. Set-up hands down before it compiles, and the
// planner before it searches, so both know the same layers.
#pragma once

#include "declaration/core/declaration.hpp"

#include <span>

namespace tenon {

// The names of the settings that a layer takes over from its container, unless it has a value of
// its own. All types have them.
std::span<const char* const> handedDownSettings();

// Hands these settings down, and halo_depth to containers.
void handDownSettings(const Declaration& container, Declaration& layer);

// Hands the lists of a container (edges, index maps, links of patches) down to `lists`, those of
// the layer. Only types on meshes take over edges and index maps; links concern every type that
// works on patches.
void handDownLists(const MeshLists& container, const Declaration& layer, MeshLists& lists);

} // namespace tenon
