// SPDX-License-Identifier: BSD-2-Clause
// Message passing by one kernel: rows are taken from nodes to edges, a column MLP computes on each, and what it gives is
// summed at nodes, or written as rows of the edges where these are carried on.
#pragma once

#include "layer/core/bound_maps.hpp"

namespace tenon {

// Replaces such kernels on the host. The option fuse_rows leaves them.
void fuseEdgeNetworks(BoundMaps& maps);

} // namespace tenon
