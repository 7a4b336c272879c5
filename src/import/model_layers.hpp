// SPDX-License-Identifier: BSD-2-Clause
// The canonical graph as a network of Tenon's layers, and what each of their parameters takes from
// the file.
#pragma once

#include "declaration/core/network_file.hpp"
#include "import/model_constant.hpp"
#include "import/model_graph.hpp"

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

  LayerDescription graph; // a graph
  std::vector<Parameter> parameters;
  std::vector<bool> isFrozen; // by node: it holds constants of the model, which are not trained
  std::vector<Row> rows;
};

// Throws TENON_ERR_SUPPORT with all that cannot be imported, if there is anything.
ImportedNetwork mapToLayers(ModelGraph& graph, const ModelWeights& weights);

} // namespace tenon
