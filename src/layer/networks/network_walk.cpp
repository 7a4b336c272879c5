// SPDX-License-Identifier: BSD-2-Clause
// Walks through a network (network_walk.hpp). While the layers of a container are visited, a table
// has the number in the whole network of each value of the container: of its inputs at first, then
// also of the layers that were visited. An error ends the walk.
#include "layer/networks/network_walk.hpp"

namespace tenon {

namespace {

std::vector<int> numbersOf(const std::vector<int>& values, const std::vector<int>& numbers) {
  std::vector<int> translated;
  for (int value : values)
    translated.push_back(numbers[value]);
  return translated;
}

} // namespace

std::vector<int> NetworkWalk::walk(Layer& container, const std::vector<int>& reads) {
  enter(container, reads);
  containers_.push_back(&container);
  std::vector<int> values = reads; // by the numbers of the container
  for (const Layer::Node& node : container.nodes())
    values.push_back(visit(*node.layer, numbersOf(node.reads, values)));
  containers_.pop_back();
  leave(container);
  return numbersOf(container.outputValues(), values);
}

} // namespace tenon
