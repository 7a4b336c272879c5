// SPDX-License-Identifier: BSD-2-Clause
// Fused message passing: one kernel gathers rows from nodes to edges, applies a column MLP to each,
// and sums the results at nodes, or writes them as rows of edges if these are needed.
#pragma once

#include "layer/core/bound_maps.hpp"

namespace tenon {

// Makes the kernel that replaces kernel number `network` and those listed in `rows`. `maps` are the
// maps before rewriting.
std::shared_ptr<LocalKernel> makeEdgeNetwork(const BoundMaps& maps, int network,
                                             const FusedRows& rows);

} // namespace tenon
