// SPDX-License-Identifier: BSD-2-Clause
// Reads networks as tables from JSON. Each layer is read knowing those before it, so that names are
// unique and every edge goes forward: cost models and searches may take the layers in the order of
// the file.
#include "planner/papers/network_table.hpp"

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

std::vector<Index> extents(const JsonView& list) {
  std::vector<Index> numbers;
  for (const JsonView& extent : list.list())
    numbers.push_back(extent.integer(1));
  return numbers;
}

TableLayer::Kind kindOf(const JsonView& view) {
  const auto at = std::find(kKinds.begin(), kKinds.end(), view.text());
  if (at == kKinds.end())
    view.fail(fmt::format("is \"{}\"; expected one of {}", view.text(), joined(kKinds)));
  return static_cast<TableLayer::Kind>(at - kKinds.begin());
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
                   .input = extents(view.at("input")),
                   .output = extents(view.at("output")),
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
  // A fully connected layer reads all of space for each output, and what has no space cannot split
  // it.
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
  // The labels d, h and w are all there are for space.
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

} // namespace tenon
