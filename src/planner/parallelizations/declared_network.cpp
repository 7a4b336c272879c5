// SPDX-License-Identifier: BSD-2-Clause
// Reads a network's description and declares its layers for the search of a plan
// (declared_network.hpp). A layer without parameters that reads a single layer, such as an
// activation, is distributed like that layer (a dependent). Only the remaining layers are variables
// of the search, and their number determines the time of the search:
//
//   conv1 -> relu1 -> flatten -> fc1 -> relu2     variables conv1 (dependents relu1, flatten) and
//                                                 fc1 (dependent relu2); one move, flatten to fc1
//
// All errors about networks that cannot be planned are thrown here, before any price is computed.
#include "planner/parallelizations/declared_network.hpp"

#include "compile/network/inheritance.hpp"
#include "declaration/core/types.hpp"
#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

// Origin of a value: a layer and one of its outputs (0, or k for dependent k - 1); layer -1 is an
// input of the network, and `output` its number.
struct Origin {
  int layer = -1, output = 0;
  Shape shape;
};

// The container itself, without its layers.
std::unique_ptr<Declaration> settingsOf(const LayerDescription& network) {
  std::unique_ptr<Declaration> declared = makeDeclaration(network.type);
  for (const auto& [key, value] : network.settings)
    declared->set(key, value);
  return declared;
}

// Reads the nodes of a description, a sequence or graph of layers, in order.
class NetworkReader {
public:
  NetworkReader(const LayerDescription& file, std::vector<Shape> inputs)
      : inputs_(std::move(inputs)) {
    if (file.type != "sequential" && file.type != "graph")
      throw Error(
          TENON_ERR_SUPPORT,
          fmt::format("the network is a layer of type \"{}\"; a plan needs a sequential or a "
                      "graph of layers",
                      file.type));
    // Recomputation of a container would trade memory for time without being priced.
    for (const auto& [key, value] : file.settings)
      if (key == "recompute" && std::get<bool>(value))
        refuseRecomputation("the network");
    container_ = settingsOf(file);
    const Declaration* const declared = container_.get();
    if (declared->settings().find<Index>("halo_depth").value_or(1) > 1)
      throw Error(TENON_ERR_SUPPORT,
                  "the network has halo_depth, but in a plan the plan chooses which layers share a "
                  "halo exchange; set halo_depth of the plan");
    network_.savesRounded = declared->value<std::string>("saved_type") == "bfloat16";
    network_.stackDepth = declared->value<Index>("stack_depth");
    if (declared->networkOutputs().size() > 1)
      throw Error(TENON_ERR_SUPPORT, "the network has several outputs; a plan needs one");
    if (declared->inputCount() != static_cast<int>(inputs_.size()))
      throw Error(
          TENON_ERR_SHAPE,
          fmt::format("the network has {}, but shapes of {} were given; set input_shapes of "
                      "the plan to one for each; `tenon plan network` plans networks of one input",
                      counted(declared->inputCount(), "input"), inputs_.size()));
    network_.hasLists = std::ranges::any_of(file.nodes, [](const LayerDescription::Node& node) {
      const std::unique_ptr<Declaration> declared = makeDeclaration(node.layer.type);
      return !node.layer.lists.describe().empty() ||
             (declared && !declared->contains() && declared->dependsOnRowDistribution());
    });
    if (file.nodes.empty())
      throw Error(TENON_ERR_SUPPORT, "the network has no layers; a plan needs at least one");
    for (std::size_t n = 0; n < file.nodes.size(); ++n)
      addNode(file, static_cast<int>(n));
  }

  DeclaredNetwork take() {
    const Origin& last = origins_.back();
    network_.result = {
        .from = last.layer, .to = -1, .input = 0, .shape = last.shape, .output = last.output};
    for (std::size_t n = 0; n < origins_.size(); ++n)
      network_.nodes.push_back(
          {.layer = origins_[n].layer, .output = origins_[n].output, .name = names_[n]});
    return std::move(network_);
  }

private:
  // The declaration of a layer, with the settings that it takes over from the container.
  std::shared_ptr<Declaration> declarationOf(const LayerDescription& layer, int node) const {
    auto declared = std::shared_ptr<Declaration>(makeDeclaration(layer.type));
    const std::string name = nameOf(layer, node);
    if (!declared || declared->contains())
      throw Error(
          TENON_ERR_SUPPORT,
          fmt::format("layer {} has type \"{}\"; a plan needs layers of the library that do "
                      "not contain others",
                      name, layer.type));
    if (declared->takesLists() && layer.lists.describe().empty())
      throw Error(TENON_ERR_SUPPORT,
                  fmt::format("layer {} has type \"{}\", which works with lists of a mesh, but has "
                              "none; plan the network in the program that has them, by a plan of "
                              "TenonPlanCreate() after TenonLayerSetEdges(), "
                              "TenonLayerSetIndexMap() or TenonLayerSetLinks()",
                              name, layer.type));
    if (declared->fillsOutputHalo())
      throw Error(TENON_ERR_SUPPORT,
                  fmt::format("layer {} has type \"{}\", whose output keeps its halo, which plans "
                              "do not carry on to the layers that read it; leave it out if it has "
                              "no index map, since layers with boundary mode \"linked\" fill "
                              "their halos themselves, or set the network up without a plan",
                              name, layer.type));
    declared->lists() = layer.lists;
    // Rows are returned to the field with this layout.
    if (network_.hasLists && layer.output)
      declared->setOutputLayout(*layer.output);
    declared->setTitle("layer " + name);
    for (const auto& [key, value] : layer.settings)
      declared->set(key, value);
    handDownSettings(*container_, *declared);
    declared->checkSettings();
    return declared;
  }

  static std::string nameOf(const LayerDescription& layer, int node) {
    return layer.name.empty() ? fmt::format("{}{}", layer.type, node) : layer.name;
  }

  // The origins of the values that a node reads. In a sequence that is the node before it; number
  // -1, before the first node, is the network's input.
  std::vector<Origin> readsOf(const LayerDescription& file, int node) const {
    const std::vector<int> reads =
        file.type == "graph" ? file.nodes[node].reads : std::vector<int>{node - 1};
    std::vector<Origin> origins;
    // In the file, -1 is the first input of the network, -2 the second.
    for (int read : reads)
      if (const int input = -1 - read; input >= 0)
        origins.push_back({.layer = -1, .output = input, .shape = inputs_.at(input)});
      else
        origins.push_back(origins_.at(read));
    return origins;
  }

  static void checkInputCount(const Declaration& declaration, const std::string& name,
                              std::size_t given) {
    const int wanted = declaration.inputCount();
    if (wanted >= 0 && static_cast<std::size_t>(wanted) != given)
      throw Error(TENON_ERR_ARG,
                  fmt::format("layer {} ({}) has {}, but reads {} in the network", name,
                              declaration.type(), counted(wanted, "input"), given));
  }

  // A layer that does not fit its inputs has no form on one process either. Without this check the
  // error would claim that it cannot be divided.
  static void checkForm(const Declaration& declaration, const std::vector<Shape>& shapes) {
    Layouts inputs;
    for (const Shape& shape : shapes)
      inputs.push_back(
          Layout({.shape = shape, .grid = Grid::make({1}), .properties = {Property::broadcast()}}));
    declaration.form(inputs, {});
  }

  void addNode(const LayerDescription& file, int node) {
    if (file.nodes[node].sameAs >= 0)
      throw Error(TENON_ERR_SUPPORT,
                  fmt::format("node {} of the network is a layer that is used twice; a plan needs "
                              "layers that are used once",
                              node));
    const LayerDescription& layer = file.nodes[node].layer;
    names_.push_back(nameOf(layer, node));
    const auto declaration = declarationOf(layer, node);
    const std::vector<Origin> reads = readsOf(file, node);
    checkInputCount(*declaration, nameOf(layer, node), reads.size());
    std::vector<Shape> shapes;
    bool readsInput = false;
    for (const Origin& origin : reads) {
      shapes.push_back(origin.shape);
      readsInput |= origin.layer < 0;
    }
    const Shape shape = declaration->outputShape(shapes);
    // Rows of lists are distributed as the lists are, and not on one process: the forms of such
    // networks are checked when they are priced.
    if (!network_.hasLists)
      checkForm(*declaration, shapes);
    // A layer is a variable of the search if it can gain from another parallelization than the
    // layer before it: it has parameters, joins several inputs or reads the network's input. A
    // layer that is distributed like its lists is a variable, too: it must not bind the layer
    // before it.
    const bool hasParameters = !declaration->rows(shapes).front().parameters.empty();
    if (hasParameters || reads.size() > 1 || readsInput ||
        (network_.hasLists && declaration->dependsOnRowDistribution()))
      origins_.push_back(addLayer(nameOf(layer, node), declaration, reads, shapes, shape));
    else {
      DeclaredLayer& before = network_.layers[reads.front().layer];
      before.dependents.push_back({declaration, reads.front().output});
      origins_.push_back({.layer = reads.front().layer,
                          .output = static_cast<int>(before.dependents.size()),
                          .shape = shape});
    }
  }

  // Adds a variable of the search, with a move from each layer that it reads and a read of each
  // input of the network.
  Origin addLayer(const std::string& name, const std::shared_ptr<Declaration>& declaration,
                  const std::vector<Origin>& reads, const std::vector<Shape>& shapes,
                  const Shape& shape) {
    const int layer = static_cast<int>(network_.layers.size());
    DeclaredLayer declared{.name = name, .declaration = declaration, .inputs = shapes};
    // A dimension that is not in both input and output, as before a flatten, cannot remain split.
    declared.splitDims =
        std::max(0, static_cast<int>(std::min(shapes.front().size(), shape.size())) - 2);
    declared.maxChannels = shape.size() > 1 ? shape[1] : 1;
    for (std::size_t input = 0; input < reads.size(); ++input)
      if (reads[input].layer < 0) {
        declared.readsInput = true;
        network_.reads.push_back({.from = -1,
                                  .to = layer,
                                  .input = static_cast<int>(input),
                                  .shape = reads[input].shape,
                                  .source = reads[input].output});
      } else
        network_.moves.push_back({.from = reads[input].layer,
                                  .to = layer,
                                  .input = static_cast<int>(input),
                                  .shape = reads[input].shape,
                                  .output = reads[input].output});
    network_.layers.push_back(std::move(declared));
    return {.layer = layer, .output = 0, .shape = shape};
  }

  std::vector<Shape> inputs_;
  std::unique_ptr<const Declaration> container_;
  std::vector<Origin> origins_; // by node: of its output
  std::vector<std::string> names_;
  DeclaredNetwork network_;
};

} // namespace

void refuseRecomputation(const std::string& title) {
  throw Error(
      TENON_ERR_SUPPORT,
      fmt::format("{} recomputes as a whole, which plans do not price; set recompute to false, and "
                  "bound the memory of the plan instead, which then recomputes layers",
                  title));
}

DeclaredNetwork declareNetwork(const LayerDescription& network, const std::vector<Shape>& inputs) {
  return NetworkReader(network, inputs).take();
}

} // namespace tenon
