// SPDX-License-Identifier: BSD-2-Clause
// A network set up for its inputs: the maps of its nodes in one list, so that its passes are derived
// and scheduled as one layer's.
#pragma once

#include "layer/layer.hpp"

namespace tenon {

// values: the layouts of the network's values, its inputs first.
std::unique_ptr<Setup> makeNetworkSetup(const Layer& layer, const Layouts& values);

} // namespace tenon
