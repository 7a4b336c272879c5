// SPDX-License-Identifier: BSD-2-Clause
// Joins map lists. The inputs of a node are bound to values of the joined list, and its output to a
// new value, so the numbers change: for y = g(f(x)), where f has a halo exchange,
//
//   f   0 -exchange-> 1 -kernel-> 2        joined   0 -exchange-> 1 -kernel-> 2 -kernel-> 3
//   g   0 -kernel-> 1
//
// A node whose output is an output of the network, and nothing else, writes the user's tensor
// directly. If other nodes also read this value, the node writes a tensor of the library instead,
// which is then copied to the user's: the adjoint adds the cotangents of several readers in memory
// of the library.
#include "compile/program/joined_maps.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

// Number of nodes that read a value, plus the number of outputs that it is.
int usesOf(int value, const std::vector<ListNode>& nodes, const std::vector<int>& outputs) {
  auto uses = std::ranges::count(outputs, value);
  for (const ListNode& node : nodes)
    uses += std::ranges::count(node.reads, value);
  return static_cast<int>(uses);
}

} // namespace

JoinedMaps joinMaps(const std::vector<ListNode>& nodes, const Layouts& values,
                    const std::vector<int>& outputs) {
  JoinedMaps joined;
  MapList& list = joined.list;
  std::vector<ValueId> ids; // by value of the network: its number in the joined list
  const std::size_t inputs = values.size() - nodes.size();
  for (std::size_t i = 0; i < inputs; ++i)
    ids.push_back(list.input(fmt::format("x{}", i), values[i]));
  for (std::size_t i = 0; i < outputs.size(); ++i)
    list.output(outputs.size() == 1 ? "y" : fmt::format("y{}", i), values[outputs[i]]);
  for (const ListNode& node : nodes) {
    std::vector<ValueId> reads;
    for (int value : node.reads)
      reads.push_back(ids[value]);
    const int value = static_cast<int>(ids.size());
    const auto output = std::ranges::find(outputs, value) - outputs.begin();
    const bool isOnlyOutput = output < std::ssize(outputs) && usesOf(value, nodes, outputs) == 1;
    ids.push_back(isOnlyOutput
                      ? list.outputs()[output]
                      : list.value(fmt::format("v{}", joined.first.size()), values[value]));
    joined.first.push_back(list.join(*node.maps, reads, ids.back(),
                                     node.sameAs < 0 ? nullptr : &joined.first[node.sameAs]));
  }
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (usesOf(outputs[i], nodes, outputs) > 1)
      list.copy(ids[outputs[i]], list.outputs()[i]);
  return joined;
}

} // namespace tenon
