// SPDX-License-Identifier: BSD-2-Clause
// Adding nodes to containers, for TenonLayerSequentialAdd(), TenonLayerGraphAddNode() and for
// networks from files. A container is a layer that consists of other layers. Each node of its
// acyclic graph names a layer; a node has one output, and its inputs are inputs of the container or
// outputs of earlier nodes.
//
//   Apply, Tangent   in the order of the nodes
//   Adjoint          in reverse order; the cotangent of a value is the sum over its readers
//
// Each layer is set up for the layouts of the values that it reads. The container owns the stack of
// saved values and the tensors between nodes; a layer has a stack of its own only if it is also
// applied alone. A layer can be several nodes, which share its parameters.
#pragma once

#include "layer/core/layer.hpp"

namespace tenon {

// Appends a node to a layer of type sequential. The new node reads the output of the previous node.
void appendLayer(Layer& sequential, Ref<Layer> layer);
// Adds a node to a graph. Each number i in `inputs` is a value that the node reads: i >= 0 is the
// output of node i, -1 the first input of the graph, -2 the second, and so on. Only existing nodes
// are allowed, so there is no cycle. The output of the graph is the output of its last node, unless
// the setting output_names names other values. Returns the number of the new node.
int addGraphNode(Layer& graph, Ref<Layer> layer, const std::vector<int>& inputs);

} // namespace tenon
