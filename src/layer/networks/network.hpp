// SPDX-License-Identifier: BSD-2-Clause
// Layers joined into one: the nodes of a graph without cycles, each with one output and its inputs
// taken from the container's inputs and from nodes before it.
//
//   Apply     in the order of the nodes;  Tangent likewise
//   Adjoint   in reverse order; a value that several nodes read gets the sum of their cotangents
//
// Each layer is set up for the outputs that it reads. The stack and the tensors in between are the
// container's; a layer has its own only where it is also applied by itself. A layer may be several
// nodes: they share its parameters.
#pragma once

#include "layer/core/layer.hpp"

namespace tenon {

// Adds a node to a sequential layer; it reads the node before it.
void appendLayer(Layer& sequential, Ref<Layer> layer);
// Adds a node to a graph, which names what it reads. Number i >= 0 is the output of node i, -1 the
// graph's first input, -2 its second, and so on. Only nodes that are there can be named, so there
// is no cycle. The last node gives the graph's output. Returns the new node's number.
int addGraphNode(Layer& graph, Ref<Layer> layer, const std::vector<int>& inputs);

// A container set up for its inputs, its layers too.
std::unique_ptr<Setup> setUpNetwork(Layer& layer, const Layouts& inputs);

} // namespace tenon
