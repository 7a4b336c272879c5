// SPDX-License-Identifier: BSD-2-Clause
// Declares the layers of a table or of a network file, with what moves between them. Layers without
// parameters that read one other layer have no choice of their own but follow it: only what is left
// are variables of the search, and their number decides how long it takes.
#include "planner/prices/declared_network.hpp"

#include "declaration/core/types.hpp"
#include "sys/errors/error.hpp"
#include "sys/files/json_tree.hpp"
#include "sys/files/part_file.hpp"
#include "sys/files/share_folder.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace tenon {

namespace {

// Finds the file of a name. Tables come first, and where there is neither the message lists the
// tables.
std::string findSource(const std::string& nameOrPath) {
  std::error_code ignored;
  const std::string file = nameOrPath + ".json";
  for (const std::string& share : shareFolders()) {
    const std::filesystem::path networks = std::filesystem::path(share) / "networks";
    if (!std::filesystem::exists(networks / "tables" / file, ignored) &&
        std::filesystem::exists(networks / file, ignored))
      return findNetworkFile(nameOrPath);
  }
  return findDataFile(nameOrPath, "network table", "networks/tables", {});
}

} // namespace

NetworkSource readNetworkSource(const std::string& nameOrPath) {
  const std::string path = findSource(nameOrPath);
  const std::string text = readWholeFile(path, "network");
  const JsonNode tree = parseJson(text, path);
  const JsonView root(tree, path);
  NetworkSource source{.name = nameOrPath, .table = {}, .layers = {}};
  // Planning without MPI has no user's types, so none of them is known here.
  if (root.at("format").text().starts_with("tenon-network-table"))
    source.table = parseNetworkTable(text, path);
  else
    source.layers = parseNetwork(
        text, path, [](const std::string&) { return std::unique_ptr<Declaration>(); },
        kMostProcesses);
  return source;
}

namespace {

// The stride and padding of a window that makes `output` elements of `input`. A table names
// neither, so that some that fit have to be found.
struct Step {
  Index stride = 1, low = 0, high = 0;
};

Step stepBetween(const TableLayer& layer, Index input, Index output) {
  // The largest stride comes first, and smaller ones as long as the padding would be wider than a
  // window. At the end fewer inputs than a stride may be left that no window reaches.
  const Index stride = std::max<Index>(1, (input + output - 1) / output);
  for (Index s = stride; s >= 1; --s) {
    const Index padding = (output - 1) * s + layer.kernel - input;
    if (padding >= 0 && padding <= layer.kernel)
      return {s, padding / 2, padding - padding / 2};
    if (padding < 0 && -padding < s)
      return {s, 0, 0};
  }
  throw Error(
      TENON_ERR_SUPPORT,
      fmt::format("layer {} of the network is not a convolution that Tenon has: no stride and "
                  "padding make {} rows of {} with a kernel of {}",
                  layer.name, output, input, layer.kernel));
}

std::shared_ptr<Declaration> declared(const std::string& type) {
  return std::shared_ptr<Declaration>(makeDeclaration(type));
}

void setWindows(const TableLayer& layer, Declaration& conv) {
  std::vector<Index> kernel, stride, low, high;
  for (std::size_t d = 0; d < layer.input.size(); ++d) {
    const bool isWindow = layer.kind == TableLayer::Kind::Conv;
    const Step step = isWindow ? stepBetween(layer, layer.input[d], layer.output[d]) : Step();
    kernel.push_back(isWindow ? layer.kernel : 1);
    stride.push_back(step.stride);
    low.push_back(step.low);
    high.push_back(step.high);
  }
  conv.set("kernel", kernel);
  conv.set("stride", stride);
  conv.set("padding", low);
  conv.set("padding_high", high);
}

std::shared_ptr<Declaration> declaredConvolution(const TableLayer& layer) {
  Index taps = 1;
  for (std::size_t d = 0; d < layer.input.size(); ++d)
    taps *= layer.kernel;
  // A transposed convolution whose stride is its kernel gives each input a block of outputs of its
  // own, so it is priced as one of 1 x 1 to as many channels.
  const bool isUp = layer.kind == TableLayer::Kind::Upconv;
  const Index dense = layer.inChannels * layer.outChannels * taps;
  // A table has no groups, but a grouped convolution has fewer weights by that factor.
  const Index groups = layer.weights > 0 ? dense / layer.weights : 1;
  if (layer.weights > 0 && dense != groups * layer.weights)
    throw Error(
        TENON_ERR_SUPPORT,
        fmt::format("layer {} has {} weights, which are not those of a convolution of {} to "
                    "{} channels in groups",
                    layer.name, layer.weights, layer.inChannels, layer.outChannels));
  auto conv = declared("conv");
  conv->set("in_channels", layer.inChannels);
  conv->set("out_channels", isUp ? layer.outChannels * taps : layer.outChannels);
  conv->set("groups", groups);
  conv->set("bias", false);
  // What a plan minimises is a sum, so nothing is priced as hidden behind something else.
  conv->set("overlap", std::string("off"));
  setWindows(layer, *conv);
  return conv;
}

std::shared_ptr<Declaration> declaredAs(const TableLayer& layer) {
  if (layer.kind == TableLayer::Kind::Add)
    return declared("add");
  if (layer.kind != TableLayer::Kind::Affine)
    return declaredConvolution(layer);
  auto affine = declared("affine");
  affine->set("inputs", layer.inChannels);
  affine->set("outputs", layer.outChannels);
  affine->set("bias", false);
  return affine;
}

Index movedChannels(const NetworkTable& table, const TableEdge& edge) {
  // What moves has the extents that its reader reads, whatever pooling stands between.
  Index pixels = 1;
  for (Index extent : table.layers[edge.to].input)
    pixels *= extent;
  if (edge.elements % pixels != 0)
    throw Error(
        TENON_ERR_SUPPORT,
        fmt::format("{} elements of a sample move from layer {} to {}, which is no multiple "
                    "of its {} pixels",
                    edge.elements, table.layers[edge.from].name, table.layers[edge.to].name,
                    pixels));
  return edge.elements / pixels;
}

} // namespace

DeclaredNetwork declareNetwork(const NetworkTable& table, Index batch) {
  DeclaredNetwork network;
  for (const TableLayer& layer : table.layers) {
    Shape input = {batch, layer.inChannels};
    input.insert(input.end(), layer.input.begin(), layer.input.end());
    network.layers.push_back({.name = layer.name,
                              .declaration = declaredAs(layer),
                              .inputs = {input},
                              .splitDims = layer.splitSpace ? table.splitDims : 0,
                              .mostChannels = layer.outChannels,
                              .readsInput = layer.readsInput});
  }
  std::vector<int> inputs(table.layers.size(), 0);
  for (const TableEdge& edge : table.edges) {
    // Sums have an input for each edge; another layer that reads from several has one input whose
    // channels they share.
    const bool isJoint = table.layers[edge.to].kind == TableLayer::Kind::Add;
    DeclaredLayer& to = network.layers[edge.to];
    const int input = isJoint ? inputs[edge.to]++ : 0;
    if (input > 0)
      to.inputs.push_back(to.inputs.front());
    Shape shape = to.inputs.front();
    shape[1] = movedChannels(table, edge);
    network.moves.push_back({edge.from, edge.to, input, std::move(shape)});
  }
  const int last = static_cast<int>(network.layers.size()) - 1;
  for (int layer = 0; layer <= last; ++layer)
    if (network.layers[layer].readsInput)
      network.reads.push_back({-1, layer, 0, network.layers[layer].inputs.front()});
  const DeclaredLayer& result = network.layers[last];
  network.result = {last, -1, 0, result.declaration->outputShape(result.inputs)};
  return network;
}

namespace {

// The layer or follower whose output a node's output is.
struct Place {
  int layer = -1, output = 0;
  Shape shape;
};

class NetworkReader {
public:
  NetworkReader(const LayerDescription& file, Shape input) : input_(std::move(input)) {
    if (file.type != "sequential" && file.type != "graph")
      throw Error(
          TENON_ERR_SUPPORT,
          fmt::format("the network is a layer of type \"{}\"; a plan needs a sequential or a "
                      "graph of layers",
                      file.type));
    // Recomputation would trade memory for time behind the back of the prices.
    for (const auto& [key, value] : file.settings)
      if (key == "recompute" && std::get<bool>(value))
        refuseRecomputation("the network");
    if (file.nodes.empty())
      throw Error(TENON_ERR_SUPPORT, "the network has no layers; a plan needs at least one");
    for (std::size_t n = 0; n < file.nodes.size(); ++n)
      addNode(file, static_cast<int>(n));
  }

  DeclaredNetwork take() {
    const Place& last = places_.back();
    network_.result = {last.layer, -1, 0, last.shape, last.output};
    return std::move(network_);
  }

private:
  std::shared_ptr<Declaration> declarationOf(const LayerDescription& layer, int node) const {
    auto made = std::shared_ptr<Declaration>(makeDeclaration(layer.type));
    const std::string name = nameOf(layer, node);
    if (!made || made->contains())
      throw Error(
          TENON_ERR_SUPPORT,
          fmt::format("layer {} has type \"{}\"; a plan needs layers of the library that do "
                      "not contain others",
                      name, layer.type));
    made->setTitle("layer " + name);
    for (const auto& [key, value] : layer.settings)
      made->set(key, value);
    return made;
  }

  static std::string nameOf(const LayerDescription& layer, int node) {
    return layer.name.empty() ? fmt::format("{}{}", layer.type, node) : layer.name;
  }

  std::vector<Place> readsOf(const LayerDescription& file, int node) const {
    const std::vector<int> reads =
        file.type == "graph" ? file.nodes[node].reads : std::vector<int>{node - 1};
    std::vector<Place> places;
    for (int read : reads) {
      if (read < -1)
        throw Error(TENON_ERR_SUPPORT, "the network has several inputs; a plan needs one");
      places.push_back(read < 0 ? Place{-1, 0, input_} : places_.at(read));
    }
    return places;
  }

  static void checkInputCount(const Declaration& declaration, const std::string& name,
                              std::size_t given) {
    const int wanted = declaration.inputCount();
    if (wanted >= 0 && static_cast<std::size_t>(wanted) != given)
      throw Error(TENON_ERR_ARG,
                  fmt::format("layer {} ({}) has {}, but reads {} in the network", name,
                              declaration.type(), counted(wanted, "input"), given));
  }

  void addNode(const LayerDescription& file, int node) {
    if (file.nodes[node].sameAs >= 0)
      throw Error(TENON_ERR_SUPPORT,
                  fmt::format("node {} of the network is a layer that is used twice; a plan needs "
                              "layers that are used once",
                              node));
    const LayerDescription& layer = file.nodes[node].layer;
    const auto declaration = declarationOf(layer, node);
    const std::vector<Place> reads = readsOf(file, node);
    checkInputCount(*declaration, nameOf(layer, node), reads.size());
    std::vector<Shape> shapes;
    bool readsInput = false;
    for (const Place& place : reads) {
      shapes.push_back(place.shape);
      readsInput |= place.layer < 0;
    }
    const Shape shape = declaration->outputShape(shapes);
    // A layer of its own is what can gain from another word than the layer before it: it has
    // parameters, joins several inputs or stands where the network's input enters.
    const bool hasParameters = !declaration->rows(shapes).front().parameters.empty();
    if (hasParameters || reads.size() > 1 || readsInput)
      places_.push_back(addLayer(nameOf(layer, node), declaration, reads, shapes, shape));
    else {
      DeclaredLayer& before = network_.layers[reads.front().layer];
      before.followers.push_back({declaration, reads.front().output});
      places_.push_back({reads.front().layer, static_cast<int>(before.followers.size()), shape});
    }
  }

  // A new variable of the search, with a move from each layer that it reads and a read of the
  // network's input where there is one.
  Place addLayer(const std::string& name, const std::shared_ptr<Declaration>& declaration,
                 const std::vector<Place>& reads, const std::vector<Shape>& shapes,
                 const Shape& shape) {
    const int layer = static_cast<int>(network_.layers.size());
    DeclaredLayer made{.name = name, .declaration = declaration, .inputs = shapes};
    // A dimension that is not in both input and output, as before a flatten, cannot stay split.
    made.splitDims =
        std::max(0, static_cast<int>(std::min(shapes.front().size(), shape.size())) - 2);
    made.mostChannels = shape.size() > 1 ? shape[1] : 1;
    for (std::size_t input = 0; input < reads.size(); ++input)
      if (reads[input].layer < 0) {
        made.readsInput = true;
        network_.reads.push_back({-1, layer, static_cast<int>(input), reads[input].shape});
      } else
        network_.moves.push_back({reads[input].layer, layer, static_cast<int>(input),
                                  reads[input].shape, reads[input].output});
    network_.layers.push_back(std::move(made));
    return {layer, 0, shape};
  }

  Shape input_;
  std::vector<Place> places_; // by node
  DeclaredNetwork network_;
};

} // namespace

void refuseRecomputation(const std::string& title) {
  throw Error(TENON_ERR_SUPPORT,
              fmt::format("{} recomputes, which plans do not price; set recompute to false, and "
                          "bound the memory of the plan instead",
                          title));
}

DeclaredNetwork declareNetwork(const LayerDescription& network, const Shape& input) {
  return NetworkReader(network, input).take();
}

} // namespace tenon
