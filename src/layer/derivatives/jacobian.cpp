// SPDX-License-Identifier: BSD-2-Clause
// The Jacobian of a layer at a point x. setPoint() evaluates the layer once and stores the values
// that derivatives read in a frame that belongs to the operator, not to the layer's stack. Each
// application of the operator is then one tangent, and each adjoint application one adjoint. A
// layer whose evaluations at one point differ (random masks, running statistics in training mode)
// has no Jacobian: creating the operator or setting its point is then an error.
#include "layer/derivatives/jacobian.hpp"

#include "dtensor/arithmetic.hpp"
#include "layer/core/held_bytes.hpp"
#include "layer/types/shell.hpp"
#include "sys/log/log.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

// Whether the layer or one in it draws random numbers at each evaluation.
bool isRandom(const Layer& layer) {
  if (layer.declaration().isRandom() && layer.isTraining())
    return true;
  for (const Layer* child : layer.children())
    if (isRandom(*child))
      return true;
  return false;
}

// Running statistics change in training only. Layers of user functions can write their states in
// inference too.
bool changesStates(const Layer& layer) {
  const Declaration& declaration = layer.declaration();
  if (!layer.ownStates().empty() && declaration.changesStates() &&
      (layer.isTraining() || dynamic_cast<const ShellDeclaration*>(&declaration)))
    return true;
  for (const Layer* child : layer.children())
    if (changesStates(*child))
      return true;
  return false;
}

// Throws if evaluations at the same point can differ.
void checkSteady(const Layer& layer) {
  if (isRandom(layer))
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("{} draws random numbers at each evaluation (dropout), so that it has "
                            "no Jacobian; set it to inference (TenonLayerSetTraining()), or use a "
                            "network without such layers",
                            layer.title()));
  if (changesStates(layer))
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("{} has states that evaluations change (running statistics), so that "
                            "its Jacobian would be that of one evaluation alone; set the layer to "
                            "inference (TenonLayerSetTraining()), or the statistics of batch "
                            "normalisation to running, and use no other layers with states",
                            layer.title()));
}

// Checks the layer before the base class is constructed from the set-up that this function returns.
Setup& differentiable(const Layer& layer, const DTensor& x) {
  const std::size_t inputs = layer.inputLayouts().size();
  if (inputs != 1)
    throw Error(
        TENON_ERR_SUPPORT,
        fmt::format("{} has {} inputs; a Jacobian needs a layer with one", layer.title(), inputs));
  layer.outputLayout(); // throws if there are several
  checkSteady(layer);
  if (layer.comm() != x.comm())
    throw Error(TENON_ERR_ARG, fmt::format("{} and {} are on different communicators; create them "
                                           "on the same one",
                                           layer.title(), x.title()));
  Setup& setup = layer.setup({x.layout()});
  checkTensor(x, x.layout(), layer.dataType(), layer.title(), "point");
  return setup;
}

} // namespace

Jacobian::Jacobian(Ref<Layer> layer, const DTensor& x)
    : Shell(layer->comm(), x.layout(), differentiable(*layer, x).output(), layer->dataType(),
            layer->dataType(),
            {.apply = [this](const DTensor& dx, DTensor& dy) { tangent(dx, dy); },
             .applyAdjoint = [this](const DTensor& dy, DTensor& dx) { adjoint(dy, dx); },
             .typeName = "jacobian"}),
      layer_(std::move(layer)), setup_(layer_->setup({x.layout()})), frame_(setup_.makeFrame()),
      x_(makeRef<DTensor>(comm(), domain(), domainType(), space())),
      y_(makeRef<DTensor>(comm(), range(), rangeType(), space())) {}

void Jacobian::setPoint(const DTensor& x) {
  static const int event = logEvent("LayerApply");
  const LogScope scope(event);
  checkTensor(x, domain(), domainType(), title(), "point");
  checkSteady(*layer_);
  checkIdle();
  // If the evaluation fails, the frame is incomplete, and the operator has no point.
  isSet_ = false;
  copyLocal(x, *x_);
  const DTensor* inputs[] = {x_.get()};
  DTensor* const written[] = {y_.get()};
  setup_.apply(Inputs(inputs), written, *frame_);
  isSet_ = true;
}

// Throws if there is no point, or if a parameter has changed since the point was set: the frame
// refers to the parameters instead of copying their values.
void Jacobian::checkPoint() const {
  if (!isSet_)
    throw Error(TENON_ERR_STATE,
                fmt::format("the last evaluation at a new point of {} failed; call "
                            "TenonLinearOpJacobianSetPoint() again",
                            title()));
  if (const auto* changed = setup_.changedSince(*frame_))
    throw Error(
        TENON_ERR_STATE,
        fmt::format("parameter \"{}\" of {} was changed after the point of {} was set; call "
                    "TenonLinearOpJacobianSetPoint(), of a Mat of PETSc's "
                    "TenonPetscMatSetPoint(), which evaluates the layer anew",
                    changed->first->name(), layer_->title(), title()));
}

void Jacobian::tangent(const DTensor& dx, DTensor& dy) {
  checkPoint();
  // The operator is linear in dx only: tangents of the parameters must not contribute.
  const ConstantParameters constant(setup_.maps());
  const DTensor* const read[] = {&dx};
  DTensor* const written[] = {&dy};
  const Inputs inputs = staging_.enter(*layer_, read);
  setup_.tangent(*frame_, inputs, staging_.prepare(*layer_, written));
  staging_.leave(written);
}

void Jacobian::adjoint(const DTensor& dy, DTensor& dx) {
  checkPoint();
  // The operator must not add to the gradients of the layer's parameters.
  const ConstantParameters constant(setup_.maps());
  const DTensor* const read[] = {&dy};
  DTensor* const written[] = {&dx};
  const OutputCotangents cotangents = staging_.enter(*layer_, read);
  setup_.adjoint(*frame_, cotangents, staging_.prepare(*layer_, written));
  staging_.leave(written);
}

std::string Jacobian::agreedText() const {
  return fmt::format("{}; of ({})", Shell::agreedText(), layer_->agreedText());
}

std::string Jacobian::describeMore() const {
  return fmt::format("  of {}, at a point of its own\n", layer_->title());
}

Index Jacobian::bufferBytes() const {
  return heldBytes(x_, y_) + frame_->bytes() + staging_.bytes();
}

} // namespace tenon
