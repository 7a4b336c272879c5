// SPDX-License-Identifier: BSD-2-Clause
// Which tensor of a weights file each parameter of a network takes.
//
//   with a map     as it says; a parameter that it does not name takes the tensor of its own name
//   by name        where the file has a tensor of each parameter's name: "conv1.weight" of "conv1/weight"
//   by position    otherwise: the layers with parameters take the file's modules in their order, and
//                  each parameter the module's tensor of its name. A scale is also called weight there,
//                  and a shift bias. A parameter whose name ends with a number ("weight0", "weight1")
//                  takes a module for each number.
//
// A counter "num_batches_tracked" beside a "running_mean" that is taken may be left over.
//
// The order of a file's modules is that of its tensors where the file tells it, or that of the
// numbers in their names where these differ in numbers only.
#pragma once

#include "weights/weights_file.hpp"

#include <string>
#include <vector>

namespace tenon {

// Which tensor of a file each parameter takes, as a JSON file says it:
//
//   {"format": "tenon-weights-map-1",
//    "parameters": {"conv1": "features.0",
//                   "dense/weight": {"name": "dense.kernel", "transpose": [1, 0]}},
//    "unused": ["features.1.num_batches_tracked"]}
//
// A key is the path of a layer or of a parameter in the network. A layer takes a module of the
// file: its weight the tensor "features.0.weight". "transpose" names for each dimension of the
// parameter the dimension of the tensor that it is, as numpy's transpose does. Tensors of the file
// that no parameter takes must be named as unused.

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

struct WantedTensor {
  std::string layer, name; // "encoder/conv1", "weight"
  std::vector<Index> shape;
  std::string file = {};   // its name in files; "": that of its path
  bool isOptional = false; // it has a value already

  std::string path() const { return layer.empty() ? name : layer + "/" + name; }
};

struct TensorSource {
  std::size_t tensor = 0; // of the file
  // Dimension d of the parameter is dimension axes[d] of the tensor; -1: one of extent 1 that the
  // tensor lacks.
  std::vector<int> axes = {};

  // What is optional and lacks.
  bool isNone() const noexcept { return tensor == static_cast<std::size_t>(-1); }
};

// The name that a parameter has in files: its path with dots. A parameter as a value (layer type
// constant), which in PyTorch is no module's weight, has that of its layer.
std::string nameInFile(const std::string& path);

// One for each wanted tensor. Throws TENON_ERR_FORMAT listing all that is missing, left over, or of
// another shape or type. `network` names it in the message.
std::vector<TensorSource> assignTensors(const std::vector<WantedTensor>& wanted,
                                        const WeightsFile& file, const WeightsMap* map,
                                        const std::string& network);

} // namespace tenon
