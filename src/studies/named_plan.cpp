// SPDX-License-Identifier: BSD-2-Clause
// Plans of networks by name, for the command `tenon plan network`, which plans without running:
// finds the file, such as "alexnet", and selects the cost model. A table of sizes contains the
// shape of its input and works with every cost model. A network of layers needs the shape, and only
// Tenon's own prices (model own) can price its layers.
#include "studies/named_plan.hpp"

#include "studies/t1_model.hpp"
#include "sys/errors/error.hpp"
#include "sys/files/json_tree.hpp"
#include "sys/files/part_file.hpp"
#include "sys/files/share_folder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

NetworkSource readNetworkSource(const std::string& nameOrPath) {
  // If a table and a network of layers have the same name, the table is read.
  const std::string path = findDataFile(
      nameOrPath, "network", std::vector<std::string>{"networks/tables", "networks"}, {});
  const std::string text = readWholeFile(path, "network");
  const JsonNode tree = parseJson(text, path);
  const JsonView root(tree, path);
  NetworkSource source{.name = nameOrPath, .table = {}, .layers = {}};
  // Planning without MPI has no layers of user-defined types.
  if (root.at("format").text().starts_with("tenon-network-table"))
    source.table = parseNetworkTable(text, path);
  else
    source.layers = parseNetwork(
        text, path, [](const std::string&) { return std::unique_ptr<Declaration>(); },
        kMaxProcesses);
  return source;
}

namespace {

// These settings are set by name only. No object reads them from options, so the tables of options
// do not list them.
constexpr OptionSpec kNamedOptions[] = {
    {"cost_model", OptionSpec::Choice, "t1",
     "cost model of a plan: t1, communication with one latency and bandwidth; own, what Tenon runs",
     "t1|own"},
    {"data_type", OptionSpec::Choice, "float32", "(model own) data type of the network",
     "float32|float64"},
};

} // namespace

NamedPlan::NamedPlan(NetworkSource network, Index batch)
    : NetworkPlan(network.name, batch, kNamedOptions), source_(std::move(network)) {}

void NamedPlan::applySettings(Settings after, const Settings::Names& names) {
  checkShape(after.find<std::vector<Index>>("input_shape").value_or(Shape()));
  NetworkPlan::applySettings(std::move(after), names);
}

void NamedPlan::checkShape(const Shape& shape) const {
  if (source_.table && !shape.empty() && shape != source_.table->inputShape())
    throw Error(
        TENON_ERR_SHAPE,
        fmt::format("the input of the network table '{}' has shape [{}], which nothing else "
                    "than the table sets, but [{}] was given; leave the shape out, or plan "
                    "a network of layers",
                    source_.name, fmt::join(source_.table->inputShape(), ","),
                    fmt::join(shape, ",")));
}

const NetworkTable& NamedPlan::table(const std::string& who) const {
  if (!source_.table)
    throw Error(
        TENON_ERR_SUPPORT,
        fmt::format("{} needs a network table, but '{}' is a network of layers; use model own", who,
                    source_.name));
  return *source_.table;
}

// A wrong input shape causes an error in some layer, which would not tell the user what to change.
DeclaredNetwork NamedPlan::layersFor(const std::vector<Shape>& inputs) const {
  try {
    return declareNetwork(*source_.layers, inputs);
  } catch (const Error& error) {
    if (error.code() != TENON_ERR_SHAPE)
      throw;
    throw Error(TENON_ERR_SHAPE,
                fmt::format("the input_shape {} is not one of the network '{}': {}",
                            fmt::join(inputs.front().begin() + 1, inputs.front().end(), ","),
                            source_.name, error.text()));
  }
}

DeclaredNetwork NamedPlan::layers() const {
  DeclaredNetwork network =
      source_.table ? declareNetwork(*source_.table, batch()) : layersFor(inputShapes());
  network.elementBytes = value<std::string>("data_type") == "float64" ? 8 : 4;
  return network;
}

// Rejects requests that T1 cannot price and would silently ignore.
void NamedPlan::checkTogether() const {
  NetworkPlan::checkTogether();
  if (isT1() && !asksForTrainingAlone())
    throw Error(TENON_ERR_SUPPORT,
                "model t1 prices training without overlap, with an input that lies anywhere; use "
                "model own for another objective, for pinned layouts and for overlap");
}

std::unique_ptr<CostModel> NamedPlan::prices(const FineGrid& grid) const {
  if (!isT1())
    return NetworkPlan::prices(grid);
  return std::make_unique<T1Model>(table("model t1"), batch(), grid, paperLink(),
                                   inputChannels().value_or(false));
}

double NamedPlan::publishedSeconds(const std::string& equation, const PaperGrid& grid,
                                   const PaperGrid& convolutions) const {
  return publishedCost(equation, table("a published equation"), batch(), grid, convolutions,
                       paperLink());
}

} // namespace tenon
