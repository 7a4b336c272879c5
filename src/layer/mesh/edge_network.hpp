// SPDX-License-Identifier: BSD-2-Clause
// Message passing by one kernel: rows are taken from nodes to edges, a column MLP computes on each,
// and what it gives is summed at nodes, or written as rows of the edges where these are carried on.
#pragma once

#include "layer/core/bound_maps.hpp"

namespace tenon {

// In place of the network's kernel, of that number, with those that its list names: of maps as they
// were joined.
std::shared_ptr<LocalKernel> makeEdgeNetwork(const BoundMaps& maps, int network,
                                             const FusedRows& rows);

} // namespace tenon
