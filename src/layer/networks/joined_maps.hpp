// SPDX-License-Identifier: BSD-2-Clause
// Set-up of a network. Each node has a map list: its layer as a short program of communication
// operators and local kernels on numbered values. These lists are joined into one, from which
// Apply, tangent and adjoint are derived and scheduled as for a single layer. Communication of one
// node can thus overlap with kernels of another.
#pragma once

#include "layer/core/setup.hpp"

#include <memory>

namespace tenon {

class Layer;

// `values` are the layouts of the network's values: its inputs, then the output of each node.
// Throws TENON_ERR_STATE if no node reads a value that is not an output of the network.
std::unique_ptr<Setup> makeNetworkSetup(const Layer& layer, const Layouts& values);

} // namespace tenon
