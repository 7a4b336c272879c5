// SPDX-License-Identifier: BSD-2-Clause
// Unfolds a network: lists the layers that compute, without the containers (sequences and graphs)
// around them, by the same walk as set-up (layer/networks/network_walk.hpp, with an example). The
// search for a plan, which chooses the parallelism of each layer, works on this list
// (layer_plan.cpp). Every rank unfolds the same network, and nothing is communicated.
//
// A layer that is used twice, with the same parameters, is one Layer and two nodes. A search
// rejects networks with such layers.
#include "plan/unfolded.hpp"

#include "compile/network/inheritance.hpp"
#include "layer/networks/model.hpp"
#include "layer/networks/network_file.hpp"
#include "layer/networks/network_walk.hpp"
#include "layer/networks/path.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

class Unfolding final : private NetworkWalk {
public:
  // A network of a single layer has one node, whose path is the layer's name or, without a name,
  // its type.
  std::vector<UnfoldedNode> nodesOf(Layer& network) && {
    std::vector<int> inputs;
    for (int i = 0; i < std::max(1, network.inputCount()); ++i)
      inputs.push_back(i);
    inputs_ = static_cast<int>(inputs.size());
    add(network,
        network.declaration().contains() ? ""
        : network.name().empty()         ? network.declaration().type()
                                         : network.name(),
        inputs);
    return std::move(nodes_);
  }

private:
  int visit(Layer& layer, const std::vector<int>& reads) override {
    const std::string name = nameInPath(*containers().back(), layer);
    return add(layer, paths_.back().empty() ? name : fmt::format("{}/{}", paths_.back(), name),
               reads);
  }

  int add(Layer& layer, const std::string& path, const std::vector<int>& reads) {
    MeshLists lists = layer.declaration().lists();
    if (!lists_.empty())
      handDownLists(lists_.back(), layer.declaration(), lists);
    if (layer.declaration().contains()) {
      paths_.push_back(path);
      lists_.push_back(std::move(lists));
      return walk(layer, reads).front();
    }
    UnfoldedNode& node = nodes_.emplace_back(
        UnfoldedNode{.layer = &layer, .path = path, .reads = {}, .lists = std::move(lists)});
    for (int value : reads)
      node.reads.push_back(value < inputs_ ? -1 - value : value - inputs_);
    node.containers.assign(containers().begin(), containers().end());
    return inputs_ + static_cast<int>(nodes_.size()) - 1;
  }

  // Refuses containers that a plan cannot have.
  void enter(Layer& container, const std::vector<int>&) override {
    if (container.declaration().value<bool>("recompute"))
      refuseRecomputation(container.title());
    if (container.settings().find<Index>("halo_depth").value_or(1) > 1)
      throw Error(TENON_ERR_SUPPORT,
                  fmt::format("{} has halo_depth {}, but in a plan the plan chooses which layers "
                              "share a halo exchange; set halo_depth of the plan",
                              container.title(), *container.settings().find<Index>("halo_depth")));
    if (container.declaration().networkOutputs().size() > 1)
      throw Error(TENON_ERR_SUPPORT,
                  fmt::format("{} has several outputs; a plan needs one", container.title()));
    // A model that another program has exported gets its layers at its set-up, from the extents of
    // its inputs. As a part of a network it has none yet when the plan is made.
    if (container.nodes().empty() && modelOf(container))
      throw Error(TENON_ERR_SUPPORT,
                  fmt::format("{} has its layers when the extents of its inputs are known, which "
                              "within another network are those of its set-up; plan the model "
                              "by itself",
                              container.title()));
    if (container.nodes().empty())
      throw Error(TENON_ERR_STATE, fmt::format("{} has no layers; add at least one before the plan",
                                               container.title()));
  }
  void leave(Layer&) override {
    paths_.pop_back();
    lists_.pop_back();
  }

  int inputs_ = 0; // of the network
  std::vector<UnfoldedNode> nodes_;
  // Of the containers around the layer that is added, the outermost first: paths, and the lists of
  // a mesh (edges, index maps, links between patches) that its layers take over.
  std::vector<std::string> paths_;
  std::vector<MeshLists> lists_;
};

} // namespace

std::vector<UnfoldedNode> unfolded(Layer& network) {
  return Unfolding().nodesOf(network);
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
