// SPDX-License-Identifier: BSD-2-Clause
// Compiles a network (compiled_network.hpp). The nodes are compiled in the order in which they run,
// since the layouts of a node's inputs are the outputs of the nodes before it. A halo, however, is
// computed by layers before the one that needs it: HaloSharing looks ahead from each node.
#include "compile/program/compiled_network.hpp"

#include "declaration/core/types.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

// The list of a container that recomputes: one kernel, which saves only its inputs.
MapList segmentMaps(const Layouts& inputs, const Layout& output) {
  MapList list;
  std::vector<ValueId> reads;
  for (const Layout& input : inputs)
    reads.push_back(list.input(fmt::format("x{}", reads.size()), input));
  list.run({.name = "segment",
            .savesInputs = true,
            .anyStrides = true,
            .runsOnce = true,
            .gradients = Gradients::Within},
           reads, list.output("y", output));
  return list;
}

bool sharesHalos(const Network& network) {
  return std::ranges::any_of(network.nodes, [](const NetworkNode& node) {
    return node.haloDepth > 1 || node.halo == HaloFrom::Compute;
  });
}

} // namespace

CompiledNetwork::CompiledNetwork(Network network, const Layouts& inputs, const Target& target) {
  Stored stored;
  *this = CompiledNetwork(std::move(network), inputs, target, stored);
}

CompiledNetwork::CompiledNetwork(Network network, const Layouts& inputs, const Target& target,
                                 Stored& stored)
    : network_(std::move(network)), values_(inputs), order_(target.order) {
  compileNodes(target, stored);
  addRepartition(target, stored);
  saving_ = rewritten(join(), target, network_.savesRounded);
  std::vector<bool> recomputes;
  for (const NetworkNode& node : network_.nodes)
    recomputes.push_back(node.recomputes || node.choice.recomputes);
  list_ = recomputing(recomputes);
}

MapList CompiledNetwork::recomputing(const std::vector<bool>& nodes) const {
  MapList list = saving_;
  if (std::ranges::find(nodes, true) != nodes.end())
    list.recompute(nodes);
  return list;
}

Layouts CompiledNetwork::outputs() const {
  Layouts layouts;
  for (const int value : network_.outputs)
    layouts.push_back(values_[value]);
  return layouts;
}

Layouts CompiledNetwork::read(const NetworkNode& node) const {
  Layouts layouts;
  for (const int value : node.reads)
    layouts.push_back(values_[value]);
  return layouts;
}

Form CompiledNetwork::formOfNode(const NetworkNode& node, const Layouts& inputs,
                                 const Target& target,
                                 const std::optional<Layout>& computedHalo) const {
  return formThatRuns(*node.type, network_.elementBytes, target.pieces, [&](bool inPieces) {
    return formOf(*node.type, inputs, &node.choice, inPieces, computedHalo);
  });
}

// Compiles all nodes, in order.
void CompiledNetwork::compileNodes(const Target& target, Stored& stored) {
  std::optional<HaloSharing> halos;
  if (sharesHalos(network_)) {
    std::vector<SharingNode> sharing;
    for (const NetworkNode& node : network_.nodes)
      sharing.push_back(
          {.declaration = node.segment ? nullptr : node.type.get(),
           .reads = node.reads,
           .halo = node.halo,
           .container = node.container,
           .depth = node.haloDepth,
           .form = [&node](const Layouts& inputs, const std::optional<Layout>& computedHalo) {
             return formOf(*node.type, inputs, &node.choice, /*inPieces=*/false, computedHalo);
           }});
    halos.emplace(std::move(sharing), network_.inputs, network_.outputs);
  }
  for (int n = 0; n < static_cast<int>(network_.nodes.size()); ++n)
    addNode(n, target, halos ? halos->computedHaloOf(n, read(network_.nodes[n])) : std::nullopt,
            stored);
}

// A layer that is several nodes with equal inputs and choices is compiled once: the later nodes
// have the form and the list of the first one (sameAs).
void CompiledNetwork::addNode(int number, const Target& target,
                              const std::optional<Layout>& computedHalo, Stored& stored) {
  const NetworkNode& declared = network_.nodes[number];
  nodes_.push_back({.computedHalo = computedHalo, .inputs = read(declared)});
  Node& node = nodes_.back();
  for (int before = 0; before < number && node.sameAs < 0; ++before)
    if (const NetworkNode& earlier = network_.nodes[before];
        earlier.type == declared.type && nodes_[before].inputs == node.inputs &&
        nodes_[before].computedHalo == computedHalo &&
        earlier.choice.agreedText() == declared.choice.agreedText())
      node.sameAs = before;
  if (node.sameAs >= 0) {
    node.form = nodes_[node.sameAs].form;
    node.segment = nodes_[node.sameAs].segment;
  } else {
    compileNode(number, target, stored);
  }
  values_.push_back(node.segment ? node.segment->outputs().front() : node.form->output);
}

// The form and the list of a node. The list follows at once: a user function that is called for the
// form can set what the list depends on.
void CompiledNetwork::compileNode(int number, const Target& target, Stored& stored) {
  const NetworkNode& declared = network_.nodes[number];
  Node& node = nodes_[number];
  if (declared.segment) {
    node.segment = std::shared_ptr<const CompiledNetwork>(
        new CompiledNetwork(*declared.segment, node.inputs, target, stored));
    node.maps = segmentMaps(node.inputs, node.segment->outputs().front());
    return;
  }
  declared.type->checkLinks(node.inputs);
  node.form = formOfNode(declared, node.inputs, target, node.computedHalo);
  node.storage = storageOf(declared, *node.form, stored);
  stored.try_emplace(declared.type.get(), node.storage);
  node.maps = declared.type->maps(*node.form, node.storage);
}

// A layout of the output that the user requires and the last layer does not have needs a
// repartition after it.
void CompiledNetwork::addRepartition(const Target& target, Stored& stored) {
  if (!network_.output)
    return;
  const std::shared_ptr<Declaration> repartition = makeDeclaration("repartition");
  repartition->setTitle("the output of the network");
  repartition->setOutputLayout(*network_.output);
  const Layouts output = {values_[network_.outputs.front()]};
  // The last layer has the required layout already.
  if (repartition->form(output, {}).output == output.front())
    return;
  network_.nodes.push_back({.type = repartition, .reads = network_.outputs});
  network_.outputs = {static_cast<int>(values_.size())};
  addNode(static_cast<int>(network_.nodes.size()) - 1, target, std::nullopt, stored);
}

// The layouts in which the parameters of a node are stored. Those that exist, because the layer is
// set up for other inputs too or is an earlier node, stay where they are. If a parameter has
// another shape, set-up refuses it.
Layouts CompiledNetwork::storageOf(const NetworkNode& node, const Form& form,
                                   const Stored& stored) const {
  Layouts storage = node.type->storageLayouts(form);
  if (const auto known = stored.find(node.type.get());
      known != stored.end() && known->second.size() == storage.size())
    return known->second;
  for (std::size_t p = 0; p < storage.size(); ++p)
    for (const auto& [name, layout] : node.parameters)
      if (name == form.parameters[p].name && layout.shape() == storage[p].shape())
        storage[p] = layout;
  return storage;
}

// One list for the network, from the lists of its nodes.
MapList CompiledNetwork::join() {
  std::vector<ListNode> lists;
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const Node& node = nodes_[n];
    lists.push_back({node.sameAs < 0 ? &node.maps : &nodes_[node.sameAs].maps,
                     network_.nodes[n].reads, node.sameAs});
  }
  JoinedMaps joined = joinMaps(lists, values_, network_.outputs);
  firstObjects_ = std::move(joined.first);
  return std::move(joined.list);
}

// With firstObjects_[n].kernels of 0, 2, 3, kernels 0 and 1 belong to node 0, kernel 2 to node 1,
// and kernels from 3 to node 2.
std::size_t CompiledNetwork::nodeOfKernel(int kernel) const {
  const auto next = std::ranges::upper_bound(firstObjects_, kernel, {}, &JoinedObjects::kernels);
  return static_cast<std::size_t>(next - firstObjects_.begin()) - 1;
}

} // namespace tenon
