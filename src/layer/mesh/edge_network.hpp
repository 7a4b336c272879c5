// SPDX-License-Identifier: BSD-2-Clause
// Fused message passing on a mesh: one kernel gathers rows (the channels of a node) from nodes to
// edges, applies a small network of dense layers (column MLP) to each edge, and sums the results at
// nodes, or writes them as rows of edges if other layers read these. BoundMaps
// (layer/core/bound_maps.cpp) creates the kernel when it finds these operations in a network, in
// place of one kernel per operation.
#pragma once

#include "layer/core/bound_maps.hpp"

namespace tenon {

// Creates the kernel that replaces several kernels of `maps`, the map list before it is rewritten:
// the MLP, which is kernel number `network`, and the gathers and sums whose numbers are in `rows`.
std::shared_ptr<LocalKernel> makeEdgeNetwork(const BoundMaps& maps, int network,
                                             const FusedRows& rows);

} // namespace tenon
