// SPDX-License-Identifier: BSD-2-Clause
// Declarations of the containers sequential (a chain of layers) and graph: only their settings, of
// which the names of a graph's inputs and outputs need parsing. All other functions of a
// declaration concern the layouts of one layer, its form. That of a container consists of the forms
// of its layers, which the objects of module `layer` have, so asking the declaration of a container
// is an internal error. declareSequential() and declareGraph() are declared in types.hpp.
#include "declaration/core/types.hpp"
#include "sys/errors/error.hpp"
#include "sys/options/option_text.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace tenon {

namespace {

// The fields of a setting are name, type, default (nullptr: none), help, choices and bounds.
constexpr OptionSpec kHaloDepth = {
    "halo_depth",
    OptionSpec::Int,
    "1",
    "so many layers with windows in a row share one halo exchange, if they can: ranks then compute "
    "the cells around their parts that the next of these layers reads",
    nullptr,
    atLeast(1)};
constexpr OptionSpec kSequential[] = {kHaloDepth};
constexpr OptionSpec kGraph[] = {
    kHaloDepth,
    {"input_count", OptionSpec::Int, "1", "number of inputs of the graph", nullptr, {1, 64}},
    {"input_names", OptionSpec::String, "", "names of the inputs, separated by commas"},
    {"output_names", OptionSpec::String, "",
     "outputs of the graph, separated by commas: names of nodes, or a name and the number of a "
     "node "
     "(h=5); empty: that of the last node"}};

// Names separated by commas. Throws TENON_ERR_ARG if a name is empty or appears twice.
std::vector<std::string> namesIn(const std::string& text, const char* setting,
                                 const std::string& title) {
  if (text.empty())
    return {};
  std::vector<std::string> names = split(text, ',');
  for (auto name = names.begin(); name != names.end(); ++name)
    if (name->empty() || std::find(names.begin(), name, *name) != name)
      throw Error(TENON_ERR_ARG,
                  fmt::format("{} of {} is \"{}\", but names must differ and not be empty", setting,
                              title, text));
  return names;
}

class Network final : public Declaration {
public:
  Network(const char* type, std::span<const OptionSpec> table) : Declaration(type, table) {}

  bool contains() const override { return true; }
  int inputCount() const override {
    if (!settings().has("input_count"))
      return 1;
    // The names of the inputs, if set, also determine their number.
    const auto names = static_cast<int>(inputNames().size());
    return names > 0 ? names : static_cast<int>(integer("input_count"));
  }
  std::vector<std::string> inputNames() const override {
    return settings().has("input_names") ? namesIn(text("input_names"), "input_names", title())
                                         : std::vector<std::string>();
  }
  std::vector<NetworkOutput> networkOutputs() const override {
    std::vector<NetworkOutput> outputs;
    if (!settings().has("output_names"))
      return outputs;
    std::vector<std::string> names;
    for (const std::string& entry : namesIn(text("output_names"), "output_names", title())) {
      // An entry is the name of a node, or an output name and a node number: "h=5".
      const std::size_t sign = entry.find('=');
      NetworkOutput& output = outputs.emplace_back(NetworkOutput{entry.substr(0, sign)});
      if (sign != std::string::npos) {
        const auto node = parseInt(entry.substr(sign + 1));
        if (!node || *node < 0 || *node > std::numeric_limits<int>::max())
          throw Error(TENON_ERR_ARG,
                      fmt::format("output_names of {} has \"{}\"; write a name, or a name and the "
                                  "number of a node, such as h=5",
                                  title(), entry));
        output.node = static_cast<int>(*node);
      }
      names.push_back(output.name);
    }
    // The names must differ without their numbers, too: "h=5,h=6" is an error.
    namesIn(joined(names, ","), "output_names", title());
    return outputs;
  }

  Shape outputShape(const std::vector<Shape>&) const override { throwContainer(); }
  SignatureTable rows(const std::vector<Shape>&) const override { throwContainer(); }
  Form form(const Layouts&, const Choice&) const override { throwContainer(); }

private:
  void check() const override {
    networkOutputs();
    const auto names = static_cast<Index>(inputNames().size());
    if (names > 0 && isSet("input_count") && integer("input_count") != names)
      throw Error(
          TENON_ERR_ARG,
          fmt::format("{} has {}, but names {}; leave input_count to the names, or name all",
                      title(), counted(integer("input_count"), "input"), names));
  }
  [[noreturn]] void throwContainer() const {
    throw Error(TENON_ERR_INTERNAL,
                fmt::format("{} is a container; ask its layers for their forms", title()));
  }
};

} // namespace

std::unique_ptr<Declaration> declareSequential() {
  return std::make_unique<Network>("sequential", kSequential);
}

std::unique_ptr<Declaration> declareGraph() {
  return std::make_unique<Network>("graph", kGraph);
}

} // namespace tenon
