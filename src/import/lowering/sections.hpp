// SPDX-License-Identifier: BSD-2-Clause
// Divides an imported network into sections, which are consecutive nodes. Sections are run one
// after the other, so only the parameters of one section need to be in memory.
#pragma once

#include "import/lowering/model_layers.hpp"

namespace tenon {

// A section. Values are numbered through the whole network, its inputs first, then one per node:
// with 2 inputs, value 0 is input 0 and value 5 the result of node 3. `reads` are the values that
// the section needs from inputs and earlier sections, `gives` those that it computes for later
// sections or as outputs of the network.
struct NetworkSection {
  ImportedNetwork network;
  std::vector<int> reads, gives;
};

// Returns the values that are the network's outputs.
std::vector<int> outputValues(const ImportedNetwork& network);
// Returns the first node of each section, followed by the number of nodes. The parameters of a
// section have at most mostElements elements. Exceptions are a single node with more elements, and
// a boundary that more values would cross than a graph layer can have inputs: the section then
// continues beyond it.
std::vector<int> sectionStarts(const ImportedNetwork& network, Index mostElements);
// Builds the section of nodes [first, end). A layer that is shared between sections has its
// parameters in each.
NetworkSection makeSection(const ImportedNetwork& network, int first, int end);

} // namespace tenon
