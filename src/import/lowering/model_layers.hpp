// SPDX-License-Identifier: BSD-2-Clause
// A network of Tenon's layers that was imported from a file, with the constant of the file for each
// of its parameters.
#pragma once

#include "declaration/core/network_file.hpp"
#include "import/canonical/model_constant.hpp"
#include "import/canonical/model_graph.hpp"

namespace tenon {

// The result of an import: layers, and the constants that their parameters are read from.
struct ImportedNetwork {
  struct Parameter {
    int node;
    std::string name; // "weight"
    ModelConstant value;
  };
  // A row of the report: an operation of the file, and the node that computes it.
  struct Row {
    int node;
    std::string label, where, remark; // where: source line; remark: how it is emulated, or ""
  };

  // Layer of type "graph", with one node per imported layer. Layers whose parameters training does
  // not change are frozen.
  LayerDescription graph;
  std::vector<Parameter> parameters; // and running statistics
  std::vector<std::string>
      // Parameters of the model that were combined into new numbers, and so are not in the file as
      // such.
      folded;
  std::vector<NetworkOutput> outputs; // names and nodes, if there are several outputs
  // A line for each normalisation of an input or output: "input x: normalised by mean 0.1 and
  // deviation 1.5".
  std::vector<std::string> normalisations;
  std::vector<Row> rows;
  // Whether layers compute Legendre functions of which the file has tables (ModelTables), or
  // filters on the sphere that the file has with fewer digits.
  bool computesTables = false;

  // Returns the layer of a node; nodes can share one.
  const LayerDescription& layer(int node) const {
    const LayerDescription::Node& entry = graph.nodes[static_cast<std::size_t>(node)];
    return entry.sameAs < 0 ? entry.layer
                            : graph.nodes[static_cast<std::size_t>(entry.sameAs)].layer;
  }
};

// Maps a graph to layers. Throws TENON_ERR_SUPPORT with a list of everything that cannot be
// imported.
ImportedNetwork mapToLayers(ModelGraph& graph, const ModelWeights& weights);

} // namespace tenon
