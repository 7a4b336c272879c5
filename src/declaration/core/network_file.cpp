// SPDX-License-Identifier: BSD-2-Clause
// Reads and writes networks as JSON. A file describes the network, without weights:
//
//   {"format": "tenon-network-1", "dimensions": "z,y,x", "type": "graph", "name": "residual",
//    "layers": [
//     {"reads": [-1], "type": "conv", "name": "c1", "in_channels": 8, "out_channels": 8,
//      "kernel": [3, 3], "padding": [1, 1]},
//     {"reads": [0], "type": "tanh"},
//     {"reads": [-1, 1], "type": "add"}]}
//
// A node reads earlier nodes by number (0, 1, ...) or inputs of the graph (-1, -2, ...). All other
// keys of a layer are settings of its type. `name` identifies the layer in paths and messages;
// `prefix` is the prefix of its options on the command line.
//
// parseNetwork() returns a LayerDescription, a plain tree, from which the module `layer` later
// creates layers (layer/networks/network_file.cpp). It sets each setting in a Declaration of the
// layer's type while it parses, and discards the declaration: an invalid value is then reported
// with its position in the file, which is not known any more when the layers are created. Neither
// parseNetwork() nor networkText() communicates.
#include "declaration/core/network_file.hpp"

#include "declaration/core/types.hpp"
#include "geometry/layout/checked_grid.hpp"
#include "geometry/layout/layout_json.hpp"
#include "sys/errors/error.hpp"
#include "sys/files/json_text.hpp"
#include "sys/files/json_tree.hpp"
#include "sys/files/share_folder.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

#include <limits>

namespace tenon {

namespace {

constexpr const char* kFormat = "tenon-network-1";
// The order of lists with one entry per spatial dimension. It is written to the file for readers
// that use another order. Files without the key are accepted.
constexpr const char* kDimensions = "z,y,x";

// The argument of JsonView::integers() is the least integer that it accepts. Here all are accepted,
// since the setting or layout that gets the number checks its bounds.
constexpr Index kAnyInteger = std::numeric_limits<Index>::min();

// A single number is read as a list of one.
std::vector<Index> integers(const JsonView& view) {
  return view.isList() ? view.integers(kAnyInteger) : std::vector<Index>{view.integer(kAnyInteger)};
}

std::vector<int> smallIntegers(const JsonView& view, int least) {
  return view.isList() ? view.smallIntegers(least) : std::vector<int>{view.smallInteger(least)};
}

// The JSON key of a setting. Lists of names have other keys than the settings that store them as
// one text.
std::string keyOf(const std::string& setting) {
  return setting == "input_names" ? "inputs" : setting == "output_names" ? "outputs" : setting;
}

// The text of a setting that is a JSON string, or a list of strings joined by commas.
std::string commaText(const JsonView& view) {
  if (!view.isList())
    return view.text();
  std::vector<std::string> texts;
  for (const JsonView& item : view.list()) {
    texts.push_back(item.text());
    if (texts.back().find(',') != std::string::npos)
      item.fail("has a comma, which separates texts");
  }
  return joined(texts, ",");
}

// The value of a setting of this type.
SettingValue valueOf(OptionSpec::Type type, const JsonView& view) {
  switch (type) {
  case OptionSpec::Flag:
    return view.flag();
  case OptionSpec::Int:
    return view.integer(kAnyInteger);
  case OptionSpec::Ints:
    return integers(view);
  case OptionSpec::Real:
    return view.real();
  case OptionSpec::String:
    return commaText(view);
  default:
    return view.text();
  }
}

// Reads layers from the JSON tree. `declareForeign` declares types that are not in the library but
// registered by the program, and `processes` is the size of the job, which limits process grids in
// the file.
class Reader {
public:
  Reader(const ForeignTypes& declareForeign, Index processes)
      : declareForeign_(declareForeign), processes_(processes) {}

  // Reads a layer. `extraKeys` are the keys that its position in the file allows besides its own.
  LayerDescription layer(const JsonView& view, std::vector<std::string> extraKeys) const {
    LayerDescription layer;
    layer.type = view.at("type").text();
    const std::unique_ptr<Declaration> declaration = declare(view.at("type"), layer.type);
    // Only keys of this type are allowed: a misspelt setting would otherwise silently keep its
    // default.
    std::vector<std::string> keys = {"type", "name", "prefix", "frozen"};
    if (declaration->takesOutputLayout())
      keys.push_back("output");
    // A model is a container too, but its layers come from the file that another program exported.
    const bool contains = declaration->hasNodesInFile();
    if (contains)
      keys.push_back("layers");
    keys.insert(keys.end(), extraKeys.begin(), extraKeys.end());
    for (const Settings::Entry& entry : declaration->settings().entries())
      keys.emplace_back(keyOf(entry.spec->name));
    view.allow(keys);
    layer.name = view.has("name") ? view.at("name").name() : "";
    layer.prefix = view.has("prefix") ? view.at("prefix").name() : "";
    layer.frozen = view.has("frozen") && view.at("frozen").flag();
    readSettings(view, *declaration, layer);
    if (view.has("output"))
      layer.output = layout(view.at("output"));
    if (contains)
      readNodes(view.at("layers"), layer);
    return layer;
  }

private:
  std::unique_ptr<Declaration> declare(const JsonView& view, const std::string& type) const {
    auto declaration = makeDeclaration(type);
    if (!declaration)
      declaration = declareForeign_(type);
    if (!declaration)
      view.fail(fmt::format("unknown layer type '{}'; did you mean '{}'?", type,
                            nearest(type, declarationNames())));
    return declaration;
  }

  // Settings are applied one by one to report a bad value at its position in the file.
  static void readSettings(const JsonView& view, Declaration& declaration,
                           LayerDescription& layer) {
    for (const Settings::Entry& entry : declaration.settings().entries()) {
      const char* name = entry.spec->name;
      if (!view.has(keyOf(name)))
        continue;
      const JsonView entryView = view.at(keyOf(name));
      layer.settings.emplace_back(name, valueOf(entry.spec->type, entryView));
      try {
        declaration.set(name, layer.settings.back().second);
      } catch (const Error& error) {
        entryView.fail(error.text());
      }
    }
    try {
      declaration.checkSettings();
    } catch (const Error& error) {
      view.fail(error.text());
    }
  }

  // Reads the layers of a container. Only nodes of a graph have the keys "reads" and "same_as"; a
  // sequential container is a chain.
  void readNodes(const JsonView& list, LayerDescription& container) const {
    const bool isGraph = container.type == "graph";
    for (const JsonView& item : list.list()) {
      LayerDescription::Node node;
      if (isGraph && item.has("same_as")) {
        item.allow({"same_as", "reads"});
        node.sameAs = item.at("same_as").smallInteger(0);
        const auto earlierNodes = static_cast<int>(container.nodes.size());
        // Nodes that share a layer all name the first of them, so a reader never follows a chain.
        if (node.sameAs >= earlierNodes || container.nodes[node.sameAs].sameAs >= 0)
          item.at("same_as").fail("is not the number of an earlier node with a layer of its own");
      } else {
        node.layer =
            layer(item, isGraph ? std::vector<std::string>{"reads"} : std::vector<std::string>{});
      }
      if (isGraph)
        node.reads = reads(item.at("reads"), static_cast<int>(container.nodes.size()));
      container.nodes.push_back(std::move(node));
    }
  }

  // The inputs of node `number`. Only earlier nodes are accepted, so a graph has no cycle.
  static std::vector<int> reads(const JsonView& list, int number) {
    std::vector<int> reads = smallIntegers(list, std::numeric_limits<int>::min());
    if (reads.empty())
      list.fail("is empty; a node reads at least one node before it or input (-1, -2, ...)");
    for (const int read : reads)
      if (read >= number)
        list.fail(fmt::format("names node {}, which is not before node {}", read, number));
    return reads;
  }

  // The output layout of a layer: how its result is distributed over a process grid.
  Layout layout(const JsonView& view) const {
    view.allow({"shape", "grid", "ranks", "properties", "split_axes", "cuts"});
    const std::vector<int> extents = smallIntegers(view.at("grid"), 1);
    GridPtr grid;
    try {
      // A grid without a list of ranks can be far larger than the job: gridWithin() compares its
      // size with the number of processes before it allocates the list.
      grid = view.has("ranks") ? Grid::make(extents, smallIntegers(view.at("ranks"), 0))
                               : gridWithin(extents, processes_);
    } catch (const Error& error) {
      // An error with this code already names its position in the file.
      if (error.code() == TENON_ERR_FORMAT)
        throw;
      view.fail(error.text());
    }
    return layoutFrom(view, integers(view.at("shape")), grid);
  }

  const ForeignTypes& declareForeign_;
  Index processes_;
};

Json asJson(const Layout& layout) {
  Json json = {{"shape", layout.shape()},
               {"grid", layout.grid().extents()},
               {"ranks", layout.grid().ranks()}};
  json.update(jsonOf(layout));
  return json;
}

// The layer itself, without the layers that it contains.
Json asJson(const LayerDescription& layer) {
  Json json = {{"type", layer.type}};
  if (!layer.name.empty())
    json["name"] = layer.name;
  if (!layer.prefix.empty())
    json["prefix"] = layer.prefix;
  if (layer.frozen)
    json["frozen"] = true;
  for (const auto& [name, value] : layer.settings)
    if (const std::string key = keyOf(name); key != name)
      json[key] = split(std::get<std::string>(value), ','); // names, a list in the file
    else
      std::visit([&, key = name](const auto& setting) { json[key] = setting; }, value);
  if (layer.output)
    json["output"] = asJson(*layer.output);
  return json;
}

// The layer and the layers in it, one line each. `json` has the keys that depend on the layer's
// position: "format" and "dimensions" of the outermost one, "reads" of a node of a graph.
std::string textOf(Json json, const LayerDescription& layer, const std::string& indent) {
  json.update(asJson(layer));
  std::string text = indent + json.dump();
  if (layer.nodes.empty())
    return text;
  std::vector<std::string> lines;
  for (const LayerDescription::Node& node : layer.nodes) {
    Json position = Json::object();
    if (layer.type == "graph")
      position["reads"] = node.reads;
    if (node.sameAs >= 0)
      position["same_as"] = node.sameAs;
    lines.push_back(node.sameAs >= 0 ? indent + " " + position.dump()
                                     : textOf(position, node.layer, indent + " "));
  }
  text.pop_back(); // the closing brace
  return fmt::format("{}, \"layers\": [\n{}]}}", text, joined(lines, ",\n"));
}

} // namespace

LayerDescription parseNetwork(const std::string& text, const std::string& file,
                              const ForeignTypes& foreign, Index processes) {
  const JsonNode tree = parseJson(text, file);
  const JsonView view(tree, file);
  if (view.at("format").text() != kFormat)
    view.at("format").fail(
        fmt::format("is \"{}\"; this version reads \"{}\"", view.at("format").text(), kFormat));
  if (view.has("dimensions") && view.at("dimensions").text() != kDimensions)
    view.at("dimensions")
        .fail(fmt::format("is \"{}\"; lists by dimension in network files are in the order {}, in "
                          "programs in Fortran too",
                          view.at("dimensions").text(), kDimensions));
  return Reader(foreign, processes).layer(view, {"format", "dimensions"});
}

std::string networkText(const LayerDescription& network) {
  return textOf({{"format", kFormat}, {"dimensions", kDimensions}}, network, "") + "\n";
}

std::string findNetworkFile(const std::string& nameOrPath) {
  return findDataFile(nameOrPath, "network", "networks", {});
}

} // namespace tenon
