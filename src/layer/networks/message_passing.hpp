// SPDX-License-Identifier: BSD-2-Clause
// Message passing on a mesh, for nodes i and edges e, as a graph of layers:
//
//   m[e] = phi(x[target of e], s[source of e], f[e])          phi: the edge network
//   y[i] = psi(x[i], aggregate of m[e] over edges e into i)   psi: the node network
//
// x and s are fields on the nodes, f are features of the edges. The aggregate is a sum, mean or
// maximum.
#pragma once

#include "layer/core/layer.hpp"

namespace tenon {

// Creates the graph. `inputs` is the number of its inputs: x, then s if sources are another set of
// nodes than targets, then f if edges have features. The edges are those that were set under the
// name "" for the graph or for its container.
Ref<Layer> messagePassing(const Ref<Layer>& edgeNetwork, const Ref<Layer>& nodeNetwork, int inputs,
                          const std::string& aggregation);

} // namespace tenon
