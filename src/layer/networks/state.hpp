// SPDX-License-Identifier: BSD-2-Clause
// The complete state of a layer, as needed to continue elsewhere: parameters, running statistics,
// and the counters of random layers, by paths of names such as "encoder/conv1/weight" or
// "drop/applied".
#pragma once

#include "layer/core/layer.hpp"

#include <bit>
#include <variant>

namespace tenon {

// A visitor of all tensors and numbers of the state, for checkpoints and tests.
class StateVisitor {
public:
  virtual ~StateVisitor() = default;
  // Both can read the value or write it.
  virtual void tensor(const std::string& path, DTensor& value) = 0;
  virtual void number(const std::string& path, std::uint64_t& value) = 0;
  // Visits a real number, which is stored bitwise to restore exactly the same value.
  virtual void real(const std::string& path, double& value) {
    auto bits = std::bit_cast<std::uint64_t>(value);
    number(path, bits);
    value = std::bit_cast<double>(bits);
  }
  // Visit a tensor of a layer, and notify its owner if tensor() has written it. A visitor that
  // writes the tensor later must notify the owner itself.
  virtual void parameter(const std::string& path, Parameter& owner);
  virtual void state(const std::string& path, StateTensor& owner);
  // Visits a number that older files do not have; for these, it has the value of the path `older`.
  virtual void numberOrOlder(const std::string& path, std::uint64_t& value, const std::string&) {
    number(path, value);
  }
};

// Visits the state in the order of the layers; a layer that is several nodes is visited once.
// `path` is the path of `layer`. Collective if statesAreBehind(), otherwise local.
void visitState(Layer& layer, const std::string& path, StateVisitor& visitor);
// Whether the current value of a state is in another layout than its storage; all
// ranks return the same.
bool statesAreBehind(const Layer& layer) noexcept;
// Converts such states to their storage. Collective.
void settleStates(Layer& layer);

struct NamedParameter {
  std::string path;
  Ref<Parameter> parameter;
};
// The parameters of the layer and of contained layers, each once, in the order of
// Layer::parameters().
std::vector<NamedParameter> namedParameters(const Layer& layer);

// A tensor on which the output of a trained layer depends.
struct NamedTensor {
  std::string path;
  std::variant<Ref<Parameter>, Ref<StateTensor>> of;
  TenonDataType type;
  std::string file = {};             // its name in weight files,
  std::optional<Shape> extents = {}; // and its extents in them, if they differ
  // A constant whose value has another source: the file of a model, or the setting of its layer.
  // Weight files need not have it.
  bool isKnown = false;
};
// The tensors of the layer and of contained layers, each once; for each layer parameters come
// first.
std::vector<NamedTensor> namedTensors(const Layer& layer);

} // namespace tenon
