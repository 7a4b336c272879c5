// SPDX-License-Identifier: BSD-2-Clause
// A network set up for its inputs: the maps of its nodes in one list, whose passes are derived and
// scheduled as one layer's.
#pragma once

#include "layer/core/setup.hpp"

#include <memory>

namespace tenon {

class Layer;

// values: the layouts of the network's values, its inputs first. Throws TENON_ERR_STATE if a value
// is not used.
std::unique_ptr<Setup> makeNetworkSetup(const Layer& layer, const Layouts& values);

} // namespace tenon
