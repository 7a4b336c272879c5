// SPDX-License-Identifier: BSD-2-Clause
// The canonical graph as a network of Tenon's layers, and what each of their parameters takes from
// the file.
#pragma once

#include "declaration/core/network_file.hpp"
#include "import/canonical/model_constant.hpp"
#include "import/canonical/model_graph.hpp"

namespace tenon {

struct ImportedNetwork {
  struct Parameter {
    int node;
    std::string name; // "weight"
    ModelConstant value;
  };
  // What an operation became.
  struct Row {
    int node;
    std::string label, where, remark; // remark: where it is emulated
  };

  LayerDescription graph;            // a graph; what holds constants of the model is frozen
  std::vector<Parameter> parameters; // and running statistics
  std::vector<std::string>
      folded; // parameters of the model of which one of these was made as numbers
  std::vector<NetworkOutput> outputs; // where there are several
  // How inputs and outputs are normalised, a line each: "input x: normalised by mean 0.1 and
  // deviation 1.5".
  std::vector<std::string> normalisations;
  std::vector<Row> rows;

  const LayerDescription& layer(int node) const {
    const LayerDescription::Node& its = graph.nodes[static_cast<std::size_t>(node)];
    return its.sameAs < 0 ? its.layer : graph.nodes[static_cast<std::size_t>(its.sameAs)].layer;
  }
};

// Throws TENON_ERR_SUPPORT with all that cannot be imported, if there is anything.
ImportedNetwork mapToLayers(ModelGraph& graph, const ModelWeights& weights);

} // namespace tenon
