// SPDX-License-Identifier: BSD-2-Clause
// Fused message passing on a mesh: one kernel gathers rows (the channels of a node) from nodes to
// edges, applies a small network of dense layers (column MLP) to each edge, and sums the results at
// nodes, or writes them as rows of edges if other layers read these. It replaces one kernel per
// operation, when a list is rewritten (MapList::fuseRows()).
#pragma once

#include "declaration/mesh/row_kernels.hpp"

namespace tenon {

// The kernels that the fused kernel replaces. They remain those of their layers, which can also run
// without fusion; only the network is called.
struct EdgeParts {
  std::vector<const ListedKernel*> gathered = {};
  std::shared_ptr<ArrayKernel> network = nullptr;
  Index inputs = 0, outputs = 0; // channels of the network
  int contribution = -1;         // index into `gathered` of the rows added to the network's output
  const ListedKernel* sum = nullptr; // null: rows of edges are written
  Index edges = 0;                   // of this rank
  Index elementsPerChannel = 1;      // of a row [channels, further dimensions...]
};

// Its inputs are the arrays from which rows are gathered, and its parameters those of the network.
std::unique_ptr<ArrayKernel> makeEdgeNetwork(TenonDataType type, const EdgeParts& parts);

} // namespace tenon
