// SPDX-License-Identifier: BSD-2-Clause
// What a layer carries from step to step, and what it would need to go on elsewhere: parameters, running
// statistics, and what random layers have drawn, by paths of names: "encoder/conv1/weight", "drop/applied".
#pragma once

#include "layer/core/layer.hpp"

#include <variant>

namespace tenon {

class StateVisitor {
public:
  virtual ~StateVisitor() = default;
  // Both may be read and written.
  virtual void tensor(const std::string& path, DTensor& value) = 0;
  virtual void number(const std::string& path, std::uint64_t& value) = 0;
  // One for which files written before there was such a number have that of the path `older`.
  virtual void numberOrOlder(const std::string& path, std::uint64_t& value, const std::string&) {
    number(path, value);
  }
};

// In the order of the layers; what several nodes share is visited once. `path` is the layer's own.
void visitState(Layer& layer, const std::string& path, StateVisitor& visitor);

struct NamedParameter {
  std::string path;
  Ref<Parameter> parameter;
};
// Of the layer and the layers in it, each once, in the order of Layer::parameters().
std::vector<NamedParameter> namedParameters(const Layer& layer);

// What the output of a trained layer depends on.
struct NamedTensor {
  std::string path;
  std::variant<Ref<Parameter>, Ref<StateTensor>> of;
  TenonDataType type;
};
// Of the layer and the layers in it, each once; of each layer first the parameters.
std::vector<NamedTensor> namedTensors(const Layer& layer);

} // namespace tenon
