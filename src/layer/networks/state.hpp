// SPDX-License-Identifier: BSD-2-Clause
// What a layer carries from step to step, and what it would need to go on elsewhere: parameters,
// running statistics, and what random layers have drawn, by paths of names: "encoder/conv1/weight",
// "drop/applied".
#pragma once

#include "layer/core/layer.hpp"

#include <bit>
#include <variant>

namespace tenon {

class StateVisitor {
public:
  virtual ~StateVisitor() = default;
  // Both may be read and written.
  virtual void tensor(const std::string& path, DTensor& value) = 0;
  virtual void number(const std::string& path, std::uint64_t& value) = 0;
  // Visits a real number, which is kept by its bits, so that the very same one comes back.
  virtual void real(const std::string& path, double& value) {
    auto bits = std::bit_cast<std::uint64_t>(value);
    number(path, bits);
    value = std::bit_cast<double>(bits);
  }
  // Visits a tensor of a layer, whose owner is told if tensor() has written it. A visitor that
  // keeps the tensor to write it later tells the owner itself.
  virtual void parameter(const std::string& path, Parameter& owner);
  virtual void state(const std::string& path, StateTensor& owner);
  // Visits a number that older files do not have: there it has the value of the path `older`.
  virtual void numberOrOlder(const std::string& path, std::uint64_t& value, const std::string&) {
    number(path, value);
  }
};

// Visits all of it in the order of the layers; what several nodes share is visited once. `path` is
// the layer's own. Collective where statesAreBehind(), and local where not.
void visitState(Layer& layer, const std::string& path, StateVisitor& visitor);
// Whether the latest value of a state is in another layout than that in which it is kept. It is the
// same on all ranks.
bool statesAreBehind(const Layer& layer) noexcept;
// Collective. Brings these values to where they are kept.
void settleStates(Layer& layer);

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
  std::string file = {};             // its name in files of weights,
  std::optional<Shape> extents = {}; // and its extents there, where these are others
  // A constant that has its value from elsewhere: the file of a model, or the setting of its layer.
  // Files of weights need not have it.
  bool isKnown = false;
};
// The tensors of the layer and the layers in it, each once; for each layer the parameters come
// first.
std::vector<NamedTensor> namedTensors(const Layer& layer);

} // namespace tenon
