// SPDX-License-Identifier: BSD-2-Clause
// A walk through a network: visits the layers in it, in the order in which they run. A network is a
// container of layers, which can be containers themselves. Values (tensors) are numbered through
// the whole network: its inputs, then the output of each layer that computes. A network "net" of a
// convolution and a residual block:
//
//   sequential net                             visited with the path    reads    its output
//     conv conv1                               conv1                    0        1
//     graph block: conv conv2 reads input 0    block/conv2              1        2
//                  add sum reads input 0, 0    block/sum                1, 2     3
//
// Within a container, Layer::Node::reads has other numbers: the inputs of that container, then its
// nodes. So `sum` reads 0 (the input of block) and 1 (conv2).
//
// A layer that is two nodes is visited twice. Set-up lists the layers that it compiles by this
// walk, and a plan those for which it chooses.
#pragma once

#include "layer/core/layer.hpp"

namespace tenon {

// The base of a walk; a derived class says what is done at each layer.
class NetworkWalk {
public:
  virtual ~NetworkWalk() = default;

protected:
  // Visits the layers in a container that reads these values, and returns the values that are its
  // outputs.
  std::vector<int> walk(Layer& container, const std::vector<int>& reads);
  // The containers around the visited layer, the outermost first.
  const std::vector<Layer*>& containers() const noexcept { return containers_; }

private:
  // Called before the layers of a container are visited, and after it. The container itself is not
  // among containers() then.
  virtual void enter(Layer& container, const std::vector<int>& reads) = 0;
  virtual void leave(Layer& container) = 0;
  // Visits a layer that reads these values, and returns the value that is its output: if it
  // computes, a new one; if it is a container, by walk().
  virtual int visit(Layer& layer, const std::vector<int>& reads) = 0;

  std::vector<Layer*> containers_;
};

} // namespace tenon
