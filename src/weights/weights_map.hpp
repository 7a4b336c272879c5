// SPDX-License-Identifier: BSD-2-Clause
// Which tensor of a file each parameter takes, as a JSON file says it:
//
//   {"format": "tenon-weights-map-1",
//    "parameters": {"conv1": "features.0",
//                   "dense/weight": {"name": "dense.kernel", "transpose": [1, 0]}},
//    "unused": ["features.1.num_batches_tracked"]}
//
// A key is the path of a layer or of a parameter in the network. A layer takes a module of the file: its
// weight the tensor "features.0.weight". "transpose" names for each dimension of the parameter the
// dimension of the tensor that it is, as numpy's transpose does. Tensors of the file that no parameter
// takes must be named as unused.
#pragma once

#include <string>
#include <vector>

namespace tenon {

struct WeightsMap {
  struct Rule {
    std::string to, from;
    std::vector<int> axes = {}; // none: as they are
  };
  std::vector<Rule> rules;
  std::vector<std::string> unused;
};

// Throws TENON_ERR_FORMAT naming the file, the key and the byte.
WeightsMap parseWeightsMap(const std::string& text, const std::string& file);

} // namespace tenon
