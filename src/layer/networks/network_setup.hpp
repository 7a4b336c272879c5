// SPDX-License-Identifier: BSD-2-Clause
// Sets up a layer, which can be a network of layers. The containers in it have no set-up of their
// own: a network is the list of the layers that compute (compile/network/network.hpp). The steps,
// each for the whole network:
//
//   list      hands settings of containers down to their layers, and lists the layers that compute
//   compile   decides all layouts, and the list of kernels and exchanges (compile/program)
//   bind      creates parameters, operators and kernels, layer by layer
//
// Each layer in the network then has its parameters and can be viewed. Only the layer that the user
// set up has passes and their memory. If the user also applies a layer in the network alone, this
// layer gets passes and memory of its own, which use the operators and kernels that it already has.
#pragma once

#include "compile/network/network.hpp"
#include "layer/core/layer.hpp"
#include "sys/errors/at_work.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace tenon {

// One set-up of a layer, which is used once, by make().
class NetworkSetUp {
public:
  // `byUser`: whether the user sets the layer up. If not, the layer is a part of a network that is
  // set up already, and now needs passes of its own: nothing is handed down to the layers in it,
  // and the most recent set-up of each stays the most recent one.
  NetworkSetUp(Layer& outermost, bool byUser) : outermost_(outermost), byUser_(byUser) {}

  struct Made {
    Layouts outputs;
    std::unique_ptr<Setup> setup = nullptr;
    Ref<Layer> repartition = {}; // converts the output to the layout of the assignment, or null
  };
  // Sets up the outermost layer for these layouts of its inputs, and creates the entries of all
  // layers. The caller puts the Setup into the entry of the outermost layer. Collective; the ranks
  // must agree before and after.
  Made make(const Layouts& inputs, const AssignmentPtr& assignment);

private:
  struct List;
  // A layer that computes, or a container that recomputes as a whole and therefore runs as one
  // kernel.
  struct Node {
    Layer* layer;
    std::string title; // in messages, such as "layer 1 (conv) of layer "block""
    AssignmentPtr assignment;
    std::unique_ptr<List> segment; // the layers in such a container
  };
  struct Container {
    Layer* layer;
    std::vector<int> reads, outputs; // values
    AssignmentPtr assignment;
  };
  // The layers of a network in the order in which they run. A container comes after its layers.
  struct List {
    Network network;
    std::vector<Node> nodes;
    std::vector<Container> containers;
  };
  using BoundNodes = std::vector<std::shared_ptr<const BoundMaps>>;

  class Listing;
  Ref<Layer> addRepartition(List& list) const;
  static void markAtWork(const List& list, std::deque<AtWork>& marks);
  std::unique_ptr<Setup> makeSetup(const Layer& layer, const List& list,
                                   std::shared_ptr<const CompiledNetwork> compiledNetwork);
  std::shared_ptr<const BoundMaps> bind(const Node& node, const CompiledNetwork::Node& compiled,
                                        const Layout& output);
  std::shared_ptr<const BoundMaps> makeMaps(const Node& node,
                                            const CompiledNetwork::Node& compiled);

  Layer& outermost_;
  bool byUser_;
  // A layer can be several nodes, but it takes over settings, and a model is listed and proved,
  // once.
  std::set<const Layer*> handedDown_, listedModels_, provedModels_;
};

} // namespace tenon
