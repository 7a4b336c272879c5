// SPDX-License-Identifier: BSD-2-Clause
// NodeMap: the node of each rank of a communicator, and the ranks that exchange messages with other
// nodes on behalf of their own node. For example, of ranks 0 to 3 on node 0 and ranks 4 to 7 on
// node 1, gateway(0, 1) is rank 0 and gateway(1, 0) is rank 4. With more nodes, the gateways to
// different nodes are different ranks, as far as there are ranks.
#pragma once

#include "comm/communicator.hpp"

namespace tenon {

class NodeMap {
public:
  NodeMap() = default;
  // firstOnNode[r] is the lowest rank on the node of rank r. Nodes are numbered in the order of
  // their lowest ranks.
  explicit NodeMap(const std::vector<int>& firstOnNode);

  int nodes() const noexcept { return static_cast<int>(ranks_.size()); }
  int nodeOf(int rank) const noexcept { return nodeOf_[rank]; }
  // The rank of one node that exchanges messages with another one, in both directions.
  int gateway(int node, int otherNode) const noexcept {
    const std::vector<int>& ranks = ranks_[node];
    const int distance = (otherNode - node + nodes()) % nodes() - 1;
    return ranks[static_cast<std::size_t>(distance) % ranks.size()];
  }

private:
  std::vector<int> nodeOf_;             // By rank.
  std::vector<std::vector<int>> ranks_; // By node.
};

// The nodes of a communicator. Collective the first time. Throws TENON_ERR_SUPPORT on all ranks if
// the ranks of a node share no memory.
const NodeMap& nodesOf(const CommPtr& comm);

} // namespace tenon
