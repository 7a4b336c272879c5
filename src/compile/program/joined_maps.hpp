// SPDX-License-Identifier: BSD-2-Clause
// The map list of a network, made from the map lists of its nodes. A map list is a layer as a short
// program of communication operators and local kernels, which read and write numbered values
// (declaration/core/map_list.hpp). Set-up creates the objects of the joined list, and the planner
// prices it.
//
// Values of the network are numbered from 0: its inputs, then the output of each node. A network
// x -> conv -> relu -> add(conv, relu) has the values
//
//   0: x    1: conv, reads 0    2: relu, reads 1    3: add, reads 1 and 2
//
// Containers are not nodes: the nodes of a network within a network are nodes of the outer one.
#pragma once

#include "declaration/core/form.hpp"
#include "declaration/core/map_list.hpp"

namespace tenon {

// A node: the list of its layer, and the values that it reads. The list is as the layer declared
// it, without the rewrites that a network makes (MapList::redirect() and others), because it can be
// joined to several networks.
struct ListNode {
  const MapList* maps;
  std::vector<int> reads;
  // An earlier node that is the same layer, or -1. Both then use the same operators, kernels and
  // parameters.
  int sameAs = -1;
};

// The list of the network, and the way back from it to the lists of its nodes.
struct JoinedMaps {
  MapList list;
  // By node: where its operators, kernels, sources and constants begin in the tables of the list.
  // joinMaps() uses the entry of an earlier node for nodes with `sameAs`, and
  // CompiledNetwork::nodeOfKernel() finds the node of a kernel by it.
  std::vector<JoinedObjects> first;
};

// Joins the lists of the nodes, in order. `values` has the layouts of all values, and `outputs` the
// numbers of those that are outputs of the network.
JoinedMaps joinMaps(const std::vector<ListNode>& nodes, const Layouts& values,
                    const std::vector<int>& outputs);

} // namespace tenon
