// SPDX-License-Identifier: BSD-2-Clause
// The Jacobian of a layer at a point that the operator keeps for itself, in a frame beside the
// layer's stack. The layer is evaluated once and differentiated often: what would change from one
// evaluation to the next (random masks, running statistics) has no Jacobian, and is refused when
// the operator is made or evaluated at another point: a network has these in training only.
#include "layer/derivatives/jacobian.hpp"

#include "dtensor/arithmetic.hpp"
#include "layer/core/layer_setup.hpp"
#include "layer/types/shell.hpp"
#include "sys/log/log.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

bool isRandom(const Layer& layer) {
  if (layer.declaration().isRandom() && layer.isTraining())
    return true;
  for (const Layer* child : layer.children())
    if (isRandom(*child))
      return true;
  return false;
}

// A user's functions may write their states in inference too.
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

// All that can be wrong with the layer is checked here, before the base class is made of the set-up
// that this returns.
Setup& differentiable(const Layer& layer, const DTensor& x) {
  const std::size_t inputs = layer.inputLayouts().size();
  if (inputs != 1)
    throw Error(
        TENON_ERR_SUPPORT,
        fmt::format("{} has {} inputs; a Jacobian needs a layer with one", layer.title(), inputs));
  layer.outputLayout(); // throws where there are several
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
  // An evaluation that fails leaves the frame half written, and the operator without a point.
  isSet_ = false;
  copyLocal(x, *x_);
  const DTensor* one[] = {x_.get()};
  DTensor* const written[] = {y_.get()};
  setup_.apply(Inputs(one), written, *frame_);
  isSet_ = true;
}

// The frame refers to parameters that stay the layer's: a derivative by other values than those of
// the evaluation would belong to no point.
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
  // The operator is linear in dx alone, so the parameters' own tangents are left out.
  const ConstantParameters constant(setup_.maps());
  const DTensor* const read[] = {&dx};
  DTensor* const written[] = {&dy};
  const Inputs inputs = staging_.enter(*layer_, read);
  setup_.tangent(*frame_, inputs, staging_.prepare(*layer_, written));
  staging_.leave(written);
}

void Jacobian::adjoint(const DTensor& dy, DTensor& dx) {
  checkPoint();
  // The layer's gradients are not this operator's to add to.
  const ConstantParameters constant(setup_.maps());
  const DTensor* const read[] = {&dy};
  DTensor* const written[] = {&dx};
  const OutputCotangents given = staging_.enter(*layer_, read);
  setup_.adjoint(*frame_, given, staging_.prepare(*layer_, written));
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
