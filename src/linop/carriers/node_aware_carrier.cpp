// SPDX-License-Identifier: BSD-2-Clause
// Divides the parts of a direction among the relay between nodes and the carrier of all other
// parts. For example, of 26 neighbours in a grid of blocks, of which 17 are on other nodes, those
// on the node get their parts by lanes, large faces go to other nodes as messages of their own, and
// edges and corners are relayed.
#include "linop/carriers/node_aware_carrier.hpp"

#include "comm/node_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tenon {

NodeAwareCarrier::Split NodeAwareCarrier::splitOf(const CarrierSetup& setup) {
  const Direction& direction = setup.direction;
  const NodeMap& nodes = nodesOf(setup.comm);
  // Small parts between nodes are relayed, which saves messages; for large ones the additional
  // copies would cost more.
  const auto isRelayed = [&](const Part& part) {
    return nodes.nodeOf(part.peer) != nodes.nodeOf(direction.rank) && part.bytes > 0 &&
           part.bytes <= setup.policy.relayLimit;
  };
  Split split;
  split.rest.rank = direction.rank;
  split.rest.sums = direction.sums;
  split.rest.alignment = direction.alignment;
  const auto divide = [&](const std::vector<Part>& parts, std::vector<std::size_t>& relayed,
                          std::vector<Part>& rest) {
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (isRelayed(parts[i]))
        relayed.push_back(i);
      else
        rest.push_back(parts[i]);
  };
  divide(direction.packs, split.packs, split.rest.packs);
  divide(direction.unpacks, split.unpacks, split.rest.unpacks);
  return split;
}

NodeAwareCarrier::NodeAwareCarrier(const CarrierSetup& setup)
    : NodeAwareCarrier(setup, splitOf(setup)) {}

NodeAwareCarrier::NodeAwareCarrier(const CarrierSetup& setup, Split split)
    : rest_(std::move(split.rest)), directPart_(setup.direction.unpacks.size(), -1),
      relay_(setup, split.packs, split.unpacks), relayed_(split.packs.size()) {
  int next = 0;
  for (std::size_t i = 0; i < directPart_.size(); ++i)
    if (!std::ranges::binary_search(split.unpacks, i))
      directPart_[i] = next++;
  // With the transport of `setup`, makeCarrier() would make another NodeAwareCarrier.
  CarrierPolicy policy = setup.policy;
  policy.transport = Transport::Auto;
  direct_ = makeCarrier({setup.comm, setup.tag, rest_, policy, setup.owner}, Space::Host);
}

std::string NodeAwareCarrier::describe() const {
  return fmt::format("node_aware, {}; {} parts are relayed between nodes", direct_->describe(),
                     relayed_);
}

} // namespace tenon
