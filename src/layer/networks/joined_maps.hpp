// SPDX-License-Identifier: BSD-2-Clause
// Set-up of a network: joins the map lists of its nodes into one list, whose passes are derived and
// scheduled as those of a single layer.
#pragma once

#include "layer/core/setup.hpp"

#include <memory>

namespace tenon {

class Layer;

// `values` are the layouts of the network's values, its inputs first. Throws TENON_ERR_STATE if a
// value is not used.
std::unique_ptr<Setup> makeNetworkSetup(const Layer& layer, const Layouts& values);

} // namespace tenon
