// SPDX-License-Identifier: BSD-2-Clause
// The parameters of the model that an ONNX file was exported from, by the metadata of PyTorch's
// newer exporter: which tensors are parameters, and the names of all parameters. Exporters store
// equal tensors once, under the first one's name; the module of a node then tells which parameter
// it reads. For example, two norms that begin with the same weights are one tensor
// "blocks.0.norm.weight", and the node of the module "blocks.1.norm" reads "blocks.1.norm.weight".
#pragma once

#include "import/model_program.hpp"
#include "import/onnx/wire.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>

namespace tenon {

// What the metadata says, collected while the file is read and then asked by tensor and module.
class OnnxParameterNames {
public:
  // Reads the metadata of a value, which may state its role.
  void noteRole(WireMessage value);
  // Collects names of parameters from "p_n_weight: PARAMETER target='n.weight'".
  void noteTargets(const std::string& signature);

  // None if the file does not state it.
  std::optional<ModelTensor::Role> roleOf(const std::string& tensor) const;
  // Returns "module.weight" if a tensor whose name ends in "weight" was stored under another
  // parameter's name; none if it is that parameter, or no parameter.
  std::optional<std::string> aliasIn(const std::string& module, const std::string& tensor) const;

private:
  std::map<std::string, ModelTensor::Role> roles_; // of tensors, by name
  std::set<std::string> targets_;                  // names of all parameters of the model
};

// The module of a node: "blocks.0.norm" of "['', 'blocks.0', 'blocks.0.norm', 'layer_norm']".
std::optional<std::string> moduleIn(const std::string& scopes);

} // namespace tenon
