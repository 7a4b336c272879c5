// SPDX-License-Identifier: BSD-2-Clause
// The complete state of a layer, as needed to continue a run later: parameters, running statistics,
// and the counters of random layers. Each has a path of layer names and its own name, such as
// "encoder/conv1/weight" or "drop/applied".
#pragma once

#include "layer/core/layer.hpp"

#include <bit>
#include <variant>

namespace tenon {

// A visitor of all tensors and numbers of the state. Checkpoints write or read them; tests compare
// them.
class StateVisitor {
public:
  virtual ~StateVisitor() = default;
  // tensor() and number() can read the value or write it.
  virtual void tensor(const std::string& path, DTensor& value) = 0;
  virtual void number(const std::string& path, std::uint64_t& value) = 0;
  // Visits a real number, which is stored bitwise to restore exactly the same value.
  virtual void real(const std::string& path, double& value) {
    auto bits = std::bit_cast<std::uint64_t>(value);
    number(path, bits);
    value = std::bit_cast<double>(bits);
  }
  // parameter() and state() call tensor() for the value of a parameter or state, and valueChanged()
  // on it if tensor() has written the value. An override that writes the value later must call
  // valueChanged() itself.
  virtual void parameter(const std::string& path, Parameter& owner);
  virtual void state(const std::string& path, StateTensor& owner);
  // Visits a number that older checkpoint files do not have. Reading such a file, the visitor sets
  // it to the number at the path given last.
  virtual void numberOrOlder(const std::string& path, std::uint64_t& value, const std::string&) {
    number(path, value);
  }
};

// Visits the state in the order of the layers; a layer that is several nodes is visited once.
// `path` is the path of `layer`. Collective if statesAreBehind(), otherwise local.
void visitState(Layer& layer, const std::string& path, StateVisitor& visitor);
// Whether the current value of a state is in the layout of a set-up, newer than the value in the
// storage layout. All ranks return the same.
bool statesAreBehind(const Layer& layer) noexcept;
// Brings the storage of all states up to date. Collective.
void settleStates(Layer& layer);

// A parameter with its path.
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
  std::string file = {};             // its name in weight files, and
  std::optional<Shape> extents = {}; // its extents there, if they differ
  // Whether the tensor is a constant whose value comes from elsewhere: from the file of a model, or
  // from the setting of its layer. Weight files need not contain it.
  bool isKnown = false;
};
// The tensors of the layer and of contained layers, each once; for each layer parameters come
// first.
std::vector<NamedTensor> namedTensors(const Layer& layer);

} // namespace tenon
