// SPDX-License-Identifier: BSD-2-Clause
// Divides a network into sections that are run one after the other, so only the parameters of one
// section need to be in memory.
#pragma once

#include "import/lowering/model_layers.hpp"

namespace tenon {

// A section. Values are numbered through the whole network: its inputs first, then one per node.
// The section reads the values `reads` and produces the values `gives` for later sections or as
// outputs.
struct NetworkSection {
  ImportedNetwork network;
  std::vector<int> reads, gives;
};

// Returns the values that are the network's outputs.
std::vector<int> outputValues(const ImportedNetwork& network);
// Returns the first node of each section, followed by the number of nodes. The parameters of a
// section have at most mostElements elements. A section is larger if a single node has more, or if
// more values than a graph can have as inputs would cross the boundary.
std::vector<int> sectionStarts(const ImportedNetwork& network, Index mostElements);
// Builds the section of nodes [first, end). A layer that is shared between sections has its
// parameters in each.
NetworkSection makeSection(const ImportedNetwork& network, int first, int end);

} // namespace tenon
