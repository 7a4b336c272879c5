// SPDX-License-Identifier: BSD-2-Clause
// Message passing on a mesh as a graph of layers:
//
//   m[e] = phi(x[target of e], s[source of e], f[e])
//   y[i] = psi(x[i], aggregate of m[e] over the edges e into i)
#pragma once

#include "layer/core/layer.hpp"

namespace tenon {

// Creates the graph. Its `inputs` inputs are x, then s if sources are another set of nodes, then f
// if there are features. It uses the edges with the name "" that are set for the graph or its
// container.
Ref<Layer> messagePassing(const Ref<Layer>& edgeNetwork, const Ref<Layer>& nodeNetwork, int inputs,
                          const std::string& aggregation);

} // namespace tenon
