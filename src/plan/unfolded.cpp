// SPDX-License-Identifier: BSD-2-Clause
// Unfolds a network: lists the layers that compute, without the containers (sequences and graphs)
// around them. The search for a plan, which chooses the parallelism of each layer, works on this
// list (layer_plan.cpp). Every rank unfolds the same network, and nothing is communicated.
//
// A network "net" of a convolution and a residual block, and its unfolded nodes:
//
//   sequential net                             number   path           reads
//     conv conv1                               0        conv1          -1    (input 0 of net)
//     graph block: conv conv2 reads input 0    1        block/conv2    0
//                  add sum reads input 0, 0    2        block/sum      0, 1
//
// Nodes count from 0 through the whole network, and inputs of the network are -1, -2, ... Inside a
// container, Layer::Node::reads counts the inputs of that container first and its nodes after them:
// `sum` reads 0 (the input of block, here node 0) and 1 (conv2, here node 1).
//
// A layer that is used twice, with the same parameters, is one Layer and two nodes. A search
// rejects networks with such layers.
#include "plan/unfolded.hpp"

#include "compile/network/inheritance.hpp"
#include "layer/networks/model.hpp"
#include "layer/networks/network_file.hpp"
#include "layer/networks/path.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

class Unfolding {
public:
  // Adds the nodes of a layer, which is a container or computes. `reads` are the numbers of its
  // inputs in the unfolded list, and `listsOfContainer` the lists of a mesh (edges, index maps,
  // links between patches) that it takes over from its container. Returns the number of the node
  // that computes the layer's output.
  int add(Layer& layer, const std::string& path, const std::vector<int>& reads,
          const MeshLists& listsOfContainer) {
    MeshLists lists = layer.declaration().lists();
    handDownLists(listsOfContainer, layer.declaration(), lists);
    if (!layer.declaration().contains()) {
      nodes.push_back({&layer, path, reads, std::move(lists), containers_});
      return static_cast<int>(nodes.size()) - 1;
    }
    if (layer.declaration().value<bool>("recompute"))
      refuseRecomputation(layer.title());
    if (layer.settings().find<Index>("halo_depth").value_or(1) > 1)
      throw Error(TENON_ERR_SUPPORT,
                  fmt::format("{} has halo_depth {}, but in a plan the plan chooses which layers "
                              "share a halo exchange; set halo_depth of the plan",
                              layer.title(), *layer.settings().find<Index>("halo_depth")));
    if (layer.declaration().networkOutputs().size() > 1)
      throw Error(TENON_ERR_SUPPORT,
                  fmt::format("{} has several outputs; a plan needs one", layer.title()));
    // A model that another program has exported gets its layers at its set-up, from the extents of
    // its inputs. As a part of a network it has none yet when the plan is made.
    if (layer.nodes().empty() && modelOf(layer))
      throw Error(TENON_ERR_SUPPORT,
                  fmt::format("{} has its layers when the extents of its inputs are known, which "
                              "within another network are those of its set-up; plan the model "
                              "by itself",
                              layer.title()));
    if (layer.nodes().empty())
      throw Error(TENON_ERR_STATE,
                  fmt::format("{} has no layers; add at least one before the plan", layer.title()));
    // Values of the container by the numbers of Layer::Node::reads: its inputs, then its nodes.
    std::vector<int> values = reads;
    containers_.push_back(&layer);
    for (const Layer::Node& node : layer.nodes()) {
      std::vector<int> inputs;
      for (int value : node.reads)
        inputs.push_back(values[value]);
      const std::string name = nameInPath(layer, *node.layer);
      values.push_back(
          add(*node.layer, path.empty() ? name : fmt::format("{}/{}", path, name), inputs, lists));
    }
    containers_.pop_back();
    return values.back();
  }

  std::vector<UnfoldedNode> nodes;

private:
  std::vector<const Layer*> containers_; // around the layer that is being added, outermost first
};

} // namespace

// A network of a single layer has one node, whose path is the layer's name or, without a name, its
// type.
std::vector<UnfoldedNode> unfolded(Layer& network) {
  const bool isContainer = network.declaration().contains();
  std::vector<int> inputs;
  for (int i = 0; i < std::max(1, network.inputCount()); ++i)
    inputs.push_back(-1 - i);
  Unfolding unfolding;
  unfolding.add(network,
                isContainer              ? ""
                : network.name().empty() ? network.declaration().type()
                                         : network.name(),
                inputs, {});
  return std::move(unfolding.nodes);
}

void addState(DeclaredNetwork& network, const std::vector<UnfoldedNode>& nodes) {
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const Layer& layer = *nodes[n].layer;
    network.setFrozen(network.nodes[n], layer.isFrozen() || std::ranges::any_of(nodes[n].containers,
                                                                                &Layer::isFrozen));
    for (const Ref<Parameter>& parameter : layer.ownParameters())
      network.nodes[n].parameters.emplace_back(parameter->name(), parameter->storage());
  }
}

// The unfolded network as the description of one graph, in the form of a network file
// (declaration/core/network_file.hpp). Layers have the settings that were set on them only.
LayerDescription describeUnfolded(const std::vector<UnfoldedNode>& nodes) {
  LayerDescription graph;
  graph.type = "graph";
  int lastInput = -1; // inputs are -1, -2, ...
  for (const UnfoldedNode& node : nodes)
    for (int read : node.reads)
      lastInput = std::min(lastInput, read);
  if (lastInput < -1)
    graph.settings.emplace_back("input_count", Index(-lastInput));
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    LayerDescription::Node& described = graph.nodes.emplace_back();
    for (std::size_t before = 0; before < n && described.sameAs < 0; ++before)
      // The first node of a layer has its parameters, and later ones refer to it.
      if (nodes[before].layer == nodes[n].layer)
        described.sameAs = static_cast<int>(before);
    described.layer = describeNetwork(*nodes[n].layer);
    described.layer.name = nodes[n].path;
    described.layer.lists = nodes[n].lists;
    described.reads = nodes[n].reads;
  }
  return graph;
}

// As describeUnfolded(), but layers also have the settings of arithmetic that they take over from
// their containers: the search needs them, and the graph does not have these containers. The
// layer's own value has precedence, followed by that of the innermost container.
LayerDescription describeResolved(const std::vector<UnfoldedNode>& nodes) {
  LayerDescription graph = describeUnfolded(nodes);
  for (std::size_t n = 0; n < nodes.size(); ++n)
    for (const char* name : handedDownSettings()) {
      auto& settings = graph.nodes[n].layer.settings;
      const auto& containers = nodes[n].containers;
      const auto innermost =
          std::ranges::find_if(containers.rbegin(), containers.rend(), [&](const Layer* container) {
            return container->declaration().isSet(name);
          });
      const bool isOwn =
          std::ranges::any_of(settings, [&](const auto& entry) { return entry.first == name; });
      if (!isOwn && innermost != containers.rend())
        settings.emplace_back(name, (*innermost)->declaration().get(name));
    }
  return graph;
}

} // namespace tenon
