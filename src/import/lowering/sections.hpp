// SPDX-License-Identifier: BSD-2-Clause
// The nodes of a network as sections that run one after the other, so that of a large network the
// parameters of one section alone need be in memory.
#pragma once

#include "import/lowering/model_layers.hpp"

namespace tenon {

// Values are those of the whole network: its inputs first, then one for each node.
struct NetworkSection {
  ImportedNetwork network;
  std::vector<int> reads, gives;
};

// The values that are the network's outputs.
std::vector<int> outputValues(const ImportedNetwork& network);
// The first node of each section, and the number of nodes: the parameters of a section have at most
// so many elements, unless they are those of one node, or more values would lie between two
// sections than a graph has inputs.
std::vector<int> sectionStarts(const ImportedNetwork& network, Index mostElements);
// The nodes first ... end - 1. A layer that is shared with other sections has its parameters in
// each.
NetworkSection makeSection(const ImportedNetwork& network, int first, int end);

} // namespace tenon
