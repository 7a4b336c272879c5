// SPDX-License-Identifier: BSD-2-Clause
// Reads networks as tables of sizes from JSON (network_table.hpp lists the keys), and declares
// their layers for Tenon's own prices. A row of a table, such as
//
//   {"name": "conv2", "kind": "conv", "kernel": 5, "input": [27, 27], "output": [27, 27],
//    "in_channels": 96, "out_channels": 256, "weights": 307200}
//
// becomes a convolution whose stride, padding and groups are found from these numbers (here 2
// groups, since 307200 is half of 96 x 256 x 25). A layer is checked against the layers before it:
// names are unique and every edge points forward. Cost models and searches can therefore process
// the layers in the order of the file.
#include "studies/network_table.hpp"

#include "declaration/core/types.hpp"
#include "sys/errors/error.hpp"
#include "sys/files/json_tree.hpp"
#include "sys/files/part_file.hpp"
#include "sys/files/share_folder.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace tenon {

namespace {

constexpr const char* kTableFormat = "tenon-network-table-1";
// The names of the kinds, in the order of TableLayer::Kind.
const std::vector<std::string> kKinds = {"conv", "upconv", "fc", "add"};

double elements(Index channels, const std::vector<Index>& extents) {
  return std::accumulate(extents.begin(), extents.end(), double(channels), std::multiplies<>());
}

TableLayer::Kind kindOf(const JsonView& view) {
  const auto kind = std::find(kKinds.begin(), kKinds.end(), view.text());
  if (kind == kKinds.end())
    view.fail(fmt::format("is \"{}\"; expected one of {}", view.text(), joined(kKinds)));
  return static_cast<TableLayer::Kind>(kind - kKinds.begin());
}

int layerNamed(const JsonView& name, const std::vector<TableLayer>& layers) {
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (layers[i].name == name.text())
      return static_cast<int>(i);
  name.fail(fmt::format("there is no layer '{}'", name.text()));
}

TableLayer readTableLayer(const JsonView& view, const NetworkTable& before) {
  view.allow({"name", "kind", "kernel", "input", "output", "in_channels", "out_channels", "weights",
              "reads_input", "split_space"});
  TableLayer layer{.name = view.at("name").name(),
                   .kind = kindOf(view.at("kind")),
                   .input = view.at("input").integers(1),
                   .output = view.at("output").integers(1),
                   .inChannels = view.at("in_channels").integer(1),
                   .outChannels = view.at("out_channels").integer(1)};
  for (const TableLayer& other : before.layers)
    if (other.name == layer.name)
      view.at("name").fail(fmt::format("there is a layer '{}' already", layer.name));
  using Kind = TableLayer::Kind;
  const bool isWindow = layer.kind == Kind::Conv || layer.kind == Kind::Upconv;
  if (isWindow != view.has("kernel"))
    view.fail("'kernel' is required of conv and upconv and allowed only there");
  if (isWindow)
    layer.kernel = view.at("kernel").integer(1);
  if (layer.input.size() != layer.output.size())
    view.at("output").fail(fmt::format("has {} dimensions, but input has {}", layer.output.size(),
                                       layer.input.size()));
  if (isWindow && static_cast<int>(layer.input.size()) < before.splitDims)
    view.at("input").fail(fmt::format("has {} dimensions, but split_dims is {}", layer.input.size(),
                                      before.splitDims));
  layer.weights = view.has("weights") ? view.at("weights").integer(0) : 0;
  layer.readsInput = view.has("reads_input") && view.at("reads_input").flag();
  // A fully connected layer reads all of space for each output, and a layer without space cannot
  // split it.
  layer.splitSpace = layer.kind != Kind::Affine && !layer.input.empty() &&
                     (!view.has("split_space") || view.at("split_space").flag());
  return layer;
}

TableEdge readEdge(const JsonView& view, const std::vector<TableLayer>& layers) {
  view.allow({"from", "to", "elements"});
  const TableEdge edge{layerNamed(view.at("from"), layers), layerNamed(view.at("to"), layers),
                       view.at("elements").integer(1)};
  if (edge.from >= edge.to)
    view.fail("goes to a layer that is listed before its source");
  return edge;
}

} // namespace

double TableLayer::inputElements() const {
  return elements(inChannels, input);
}

double TableLayer::outputElements() const {
  return elements(outChannels, output);
}

bool NetworkTable::isRead(int layer) const {
  return std::any_of(edges.begin(), edges.end(),
                     [&](const TableEdge& edge) { return edge.from == layer; });
}

std::vector<Index> NetworkTable::inputShape() const {
  const auto reader = std::ranges::find_if(layers, &TableLayer::readsInput);
  if (reader == layers.end())
    return {};
  std::vector<Index> shape = {reader->inChannels};
  shape.insert(shape.end(), reader->input.begin(), reader->input.end());
  return shape;
}

NetworkTable parseNetworkTable(const std::string& text, const std::string& where) {
  const JsonNode tree = parseJson(text, where);
  const JsonView root(tree, where);
  root.allow({"format", "name", "about", "split_dims", "layers", "edges"});
  if (root.at("format").text() != kTableFormat)
    root.at("format").fail(fmt::format("is \"{}\"; this version reads \"{}\"",
                                       root.at("format").text(), kTableFormat));
  NetworkTable table{
      .name = root.at("name").name(), .about = root.at("about").text(), .layers = {}, .edges = {}};
  // Only the labels d, h and w exist for space.
  const Index dims = root.at("split_dims").integer(1);
  if (dims > 3)
    root.at("split_dims").fail(fmt::format("is {}; it must be in 1 to 3", dims));
  table.splitDims = static_cast<int>(dims);
  for (const JsonView& layer : root.at("layers").list())
    table.layers.push_back(readTableLayer(layer, table));
  if (table.layers.empty())
    root.at("layers").fail("is empty");
  for (const JsonView& edge : root.at("edges").list())
    table.edges.push_back(readEdge(edge, table.layers));
  return table;
}

NetworkTable readNetworkTable(const std::string& nameOrPath) {
  const std::string path = findDataFile(nameOrPath, "network table", "networks/tables", {});
  return parseNetworkTable(readWholeFile(path, "network table"), path);
}

namespace {

// A stride and padding of a window that produces `output` elements from `input`. A table contains
// neither, so values that fit are searched.
struct Step {
  Index stride = 1, low = 0, high = 0;
};

Step stepBetween(const TableLayer& layer, Index input, Index output) {
  // Starts with the largest stride, and continues with smaller ones while the padding is wider than
  // a window. Fewer inputs than a stride can remain at the end that no window reads.
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

// An empty declaration of a type of the library.
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
  // A transposed convolution whose stride is its kernel produces a separate block of outputs for
  // each input. It is priced as a 1 x 1 convolution with that many times the output channels.
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
  // The plan minimises a sum of seconds, in which no communication is hidden.
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
  // The data moved have the spatial extents that the reader reads, even if pooling precedes it.
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
                              .maxChannels = layer.outChannels,
                              .readsInput = layer.readsInput});
  }
  std::vector<int> inputs(table.layers.size(), 0);
  for (const TableEdge& edge : table.edges) {
    // Sums have an input for each edge. Another layer that reads several layers has one input, a
    // concatenation of their channels.
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

} // namespace tenon
