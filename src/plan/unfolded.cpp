// SPDX-License-Identifier: BSD-2-Clause
// Unfolds the containers of a network into one list of the layers that compute. A layer that occurs
// twice in the network is one layer in two nodes, and is listed twice, since both nodes run. A
// search rejects networks with such layers.
#include "plan/unfolded.hpp"

#include "layer/networks/model.hpp"
#include "layer/networks/network_file.hpp"
#include "layer/networks/path.hpp"
#include "planner/prices/declared_network.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

class Unfolding {
public:
  // Returns the node, or input, whose value is the layer's output.
  int add(Layer& layer, const std::string& path, const std::vector<int>& reads,
          const MeshLists& given) {
    MeshLists lists = layer.declaration().lists();
    if (layer.declaration().takesLists())
      lists.inherit(given);
    else
      lists.inheritLinks(given);
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
    if (layer.nodes().empty() && modelOf(layer))
      throw Error(TENON_ERR_SUPPORT,
                  fmt::format("{} has its layers when the extents of its inputs are known, which "
                              "within another network are those of its set-up; plan the model "
                              "by itself",
                              layer.title()));
    if (layer.nodes().empty())
      throw Error(TENON_ERR_STATE,
                  fmt::format("{} has no layers; add at least one before the plan", layer.title()));
    // Within a container values are numbered with inputs first, followed by nodes.
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
  std::vector<const Layer*> containers_;
};

} // namespace

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

LayerDescription describeUnfolded(const std::vector<UnfoldedNode>& nodes) {
  LayerDescription graph{"graph", {}, {}, false, {}, {}, {}};
  int least = -1; // number of the last input
  for (const UnfoldedNode& node : nodes)
    for (int read : node.reads)
      least = std::min(least, read);
  if (least < -1)
    graph.settings.emplace_back("input_count", Index(-least));
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    LayerDescription::Node& made = graph.nodes.emplace_back();
    for (std::size_t before = 0; before < n && made.sameAs < 0; ++before)
      // The first node of a layer has its parameters, and later ones refer to it.
      if (nodes[before].layer == nodes[n].layer)
        made.sameAs = static_cast<int>(before);
    made.layer = describeNetwork(*nodes[n].layer);
    made.layer.name = nodes[n].path;
    made.layer.lists = nodes[n].lists;
    made.reads = nodes[n].reads;
  }
  return graph;
}

LayerDescription describeResolved(const std::vector<UnfoldedNode>& nodes) {
  LayerDescription graph = describeUnfolded(nodes);
  for (std::size_t n = 0; n < nodes.size(); ++n)
    for (const char* name : {"data_type", "storage", "backend"}) {
      auto& settings = graph.nodes[n].layer.settings;
      const auto& containers = nodes[n].containers;
      const auto says =
          std::ranges::find_if(containers.rbegin(), containers.rend(), [&](const Layer* container) {
            return container->declaration().isSet(name);
          });
      const bool isOwn =
          std::ranges::any_of(settings, [&](const auto& entry) { return entry.first == name; });
      if (!isOwn && says != containers.rend())
        settings.emplace_back(name, (*says)->declaration().get(name));
    }
  return graph;
}

} // namespace tenon
