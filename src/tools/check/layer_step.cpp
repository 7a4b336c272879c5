// SPDX-License-Identifier: BSD-2-Clause
// The calls of one step of a layer, with one or several inputs. Before each call its output is
// filled with NaN: an element that the layer does not write, or adds to instead of overwriting,
// remains NaN and is detected.
#include "tools/check/layer_step.hpp"

namespace tenon::tools {

namespace {

std::vector<TenonDTensor> handlesOf(const std::vector<Field>& fields) {
  return {fields.begin(), fields.end()};
}

} // namespace

void LayerStep::setTarget(Field target) {
  target_.clear();
  target_.push_back(std::move(target));
  require(TenonLayerSetTarget(layer_, target_[0]));
}

TenonErrorCode LayerStep::setUp() {
  const std::vector<TenonLayout> layouts(inputs_.begin(), inputs_.end());
  if (layouts.size() == 1)
    return TenonLayerSetUp(layer_, layouts[0]);
  return TenonLayerSetUpMany(layer_, static_cast<int>(layouts.size()), layouts.data());
}

int LayerStep::parameters() const {
  int count = 0;
  require(TenonLayerGetParameterCount(layer_, &count));
  return count;
}

void LayerStep::fillParameters(TenonInt seed) {
  require(TenonLayerInitialize(layer_, seed));
  for (int i = 0; i < parameters(); ++i) {
    DTensor value, tangent;
    require(TenonLayerGetParameter(layer_, i, value.out()));
    // Numbers by global index are the same on one process and on any partition. Initial biases are
    // 0, which would hide errors in their use.
    require(TenonDTensorFillUniform(value, seed, 2 * i, -1, 1));
    require(TenonLayerGetParameterTangent(layer_, i, tangent.out()));
    require(TenonDTensorFillUniform(tangent, seed, 2 * i + 1, -1, 1));
  }
}

void LayerStep::makeTensors(TenonDataType type, bool mayBeUsers, Draw& draw,
                            TenonMemorySpace space) {
  const auto make = [&](TenonLayout layout) {
    // Drawn separately for each tensor, since a layer must accept any mixture.
    const bool isUserSupplied = mayBeUsers && draw.chance(25);
    const bool isOfTheHost = space == TENON_MEMORY_HOST || draw.chance(15);
    return Field(layout, type, isUserSupplied, draw,
                 isOfTheHost ? TENON_MEMORY_HOST : TENON_MEMORY_DEVICE);
  };
  for (const Layout& layout : inputs_) {
    Layout dual;
    require(TenonLayoutGetDual(layout, dual.out()));
    x.push_back(make(layout));
    direction.push_back(make(layout));
    dx.push_back(make(dual));
  }
  // Three output tensors: y and its tangent have the output's layout, the cotangent the dual one.
  Layout output, dual;
  require(TenonLayerGetOutputLayout(layer_, 0, output.out()));
  require(TenonLayoutGetDual(output, dual.out()));
  for (TenonLayout layout : {TenonLayout(output), TenonLayout(output), TenonLayout(dual)})
    outputs.push_back(make(layout));
}

void LayerStep::apply() {
  y().spoil();
  const auto handles = handlesOf(x);
  // The calls for one input are separate functions, which users call most often.
  if (handles.size() == 1)
    return require(TenonLayerApply(layer_, handles[0], y()));
  TenonDTensor output = y();
  require(
      TenonLayerApplyMany(layer_, static_cast<int>(handles.size()), handles.data(), 1, &output));
}

void LayerStep::applyTangent() {
  tangent().spoil();
  const auto handles = handlesOf(direction);
  if (handles.size() == 1)
    return require(TenonLayerApplyTangent(layer_, handles[0], tangent()));
  TenonDTensor output = tangent();
  require(TenonLayerApplyTangentMany(layer_, static_cast<int>(handles.size()), handles.data(), 1,
                                     &output));
}

void LayerStep::applyAdjoint() {
  for (Field& field : dx)
    field.spoil();
  const auto handles = handlesOf(dx);
  if (handles.size() == 1)
    return require(TenonLayerApplyAdjoint(layer_, dy(), handles[0]));
  TenonDTensor output = dy();
  require(TenonLayerApplyAdjointMany(layer_, 1, &output, static_cast<int>(handles.size()),
                                     handles.data()));
}

std::vector<Field> LayerStep::gradients() const {
  std::vector<Field> all;
  for (int i = 0; i < parameters(); ++i) {
    DTensor gradient;
    require(TenonLayerGetParameterGradient(layer_, i, gradient.out()));
    all.emplace_back(std::move(gradient));
  }
  return all;
}

std::vector<Field> LayerStep::parameterTangents() const {
  std::vector<Field> all;
  for (int i = 0; i < parameters(); ++i) {
    DTensor tangent;
    require(TenonLayerGetParameterTangent(layer_, i, tangent.out()));
    all.emplace_back(std::move(tangent));
  }
  return all;
}

} // namespace tenon::tools
