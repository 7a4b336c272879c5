// SPDX-License-Identifier: BSD-2-Clause
// Assigns tensors of a weights file to the parameters of a network:
//
//   with a map     by the rules of the map; a parameter without a rule gets the tensor of its name
//   by name        if the file has a tensor for each parameter's name: "conv1.weight" for
//                  "conv1/weight"
//   by position    otherwise: the layers with parameters get the file's modules in order, and each
//                  parameter gets the module's tensor of its name. Without such a tensor, a scale
//                  gets "weight" and a shift "bias". Parameters whose names end with numbers
//                  ("weight0", "weight1") use one module per number.
//
// Each tensor of the file must be assigned, except PyTorch's counter "num_batches_tracked" in a
// module whose "running_mean" is assigned.
//
// A module is a group of tensors with one prefix: "conv1" of "conv1.weight" and "conv1.bias".
// Modules are in the order of the file's tensors if the format preserves it. Otherwise they are in
// the order of the numbers in their names, if the names differ in numbers only.
#pragma once

#include "weights/weights_file.hpp"

#include <string>
#include <vector>

namespace tenon {

// A map from parameters to tensors of a file, which is read from a JSON file:
//
//   {"format": "tenon-weights-map-1",
//    "parameters": {"conv1": "features.0",
//                   "dense/weight": {"name": "dense.kernel", "transpose": [1, 0]}},
//    "unused": ["features.1.num_batches_tracked"]}
//
// A key is the path of a layer or of a parameter in the network. A layer is assigned a module of
// the file: its weight is the tensor "features.0.weight". "transpose" lists the dimension of the
// tensor for each dimension of the parameter, as in numpy's transpose. Tensors of the file that no
// parameter uses must be listed as unused.

struct WeightsMap {
  struct Rule {
    std::string to, from;
    std::vector<int> axes = {}; // empty: not transposed
  };
  std::vector<Rule> rules;
  std::vector<std::string> unused;
};

// Throws TENON_ERR_FORMAT with file, key and byte.
WeightsMap parseWeightsMap(const std::string& text, const std::string& file);

// A parameter that needs a tensor.
struct WantedTensor {
  std::string layer, name; // "encoder/conv1", "weight"
  std::vector<Index> shape;
  std::string file = {};   // name in files; "": nameInFile() of the path
  bool isOptional = false; // the parameter has a value already and needs no tensor

  std::string path() const { return layer.empty() ? name : layer + "/" + name; }
};

// The tensor for a parameter.
struct TensorSource {
  std::size_t tensor = 0; // index of the tensor in the file
  // Dimension d of the parameter is dimension axes[d] of the tensor; -1: a dimension of extent 1
  // that the tensor does not have.
  std::vector<int> axes = {};

  // Whether there is no tensor, for an optional parameter.
  bool isNone() const noexcept { return tensor == static_cast<std::size_t>(-1); }
};

// Returns the name of a parameter in files: its path with dots. The value of a layer of type
// constant, which is not in a module in PyTorch, has the name of its layer.
std::string nameInFile(const std::string& path);

// Returns the source of each wanted tensor. Throws TENON_ERR_FORMAT with a list of all tensors that
// are missing, left over, or of the wrong shape or type. `network` is its name for messages.
std::vector<TensorSource> assignTensors(const std::vector<WantedTensor>& wanted,
                                        const WeightsFile& file, const WeightsMap* map,
                                        const std::string& network);

} // namespace tenon
