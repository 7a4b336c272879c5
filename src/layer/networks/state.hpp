// SPDX-License-Identifier: BSD-2-Clause
// What a layer carries from step to step, and what it would need to go on elsewhere: parameters,
// running statistics, and what random layers have drawn, by paths of names: "encoder/conv1/weight",
// "drop/applied".
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
  // Visits a number that older files do not have: there it has the value of the path `older`.
  virtual void numberOrOlder(const std::string& path, std::uint64_t& value, const std::string&) {
    number(path, value);
  }
};

// Visits all of it in the order of the layers; what several nodes share is visited once. `path` is
// the layer's own.
void visitState(Layer& layer, const std::string& path, StateVisitor& visitor);

struct NamedParameter {
  std::string path;
  Ref<Parameter> parameter;
};
// The parameters of the layer and the layers in it, each once, in the order of Layer::parameters().
std::vector<NamedParameter> namedParameters(const Layer& layer);

// What the output of a trained layer depends on.
struct NamedTensor {
  std::string path;
  std::variant<Ref<Parameter>, Ref<StateTensor>> of;
  TenonDataType type;
};
// The tensors of the layer and the layers in it, each once; for each layer the parameters come
// first.
std::vector<NamedTensor> namedTensors(const Layer& layer);

} // namespace tenon
