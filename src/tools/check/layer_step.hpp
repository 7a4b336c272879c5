// SPDX-License-Identifier: BSD-2-Clause
// One step of a layer with its tensors: forward y = f(x), tangent J v and adjoint dx = J* dy, where
// J is the derivative of f. Calls: setTarget() for a loss, setUp(), fillParameters(),
// makeTensors(), then apply(), applyTangent(), applyAdjoint(). All are collective on the layer's
// communicator.
#pragma once

#include "tools/check/field.hpp"

namespace tenon::tools {

class LayerStep {
public:
  LayerStep(Layer layer, std::vector<Layout> inputs)
      : layer_(std::move(layer)), inputs_(std::move(inputs)) {}

  TenonLayer layer() const { return layer_; }
  // Sets the target of a loss. Call before apply().
  void setTarget(Field target);
  TenonErrorCode setUp();
  // Fills parameters and their tangents with values that do not depend on the partition. Call after
  // set-up.
  void fillParameters(TenonInt seed);
  // Creates the tensors. If `mayBeUsers`, some of them use a user array, at random. If `space` is
  // the device, some are on the host nevertheless.
  void makeTensors(TenonDataType type, bool mayBeUsers, Draw& draw,
                   TenonMemorySpace space = TENON_MEMORY_HOST);
  void apply();
  void applyTangent();
  void applyAdjoint();

  std::vector<Field> x, direction, dx; // by input; `direction` is v
  std::vector<Field> outputs;          // y, its tangent J v, dy
  Field& y() { return outputs[0]; }
  Field& tangent() { return outputs[1]; }
  Field& dy() { return outputs[2]; }
  // By parameter.
  std::vector<Field> gradients() const;
  std::vector<Field> parameterTangents() const;

private:
  int parameters() const; // how many the layer has
  Layer layer_;
  std::vector<Layout> inputs_;
  std::vector<Field> target_; // none, or one
};

} // namespace tenon::tools
