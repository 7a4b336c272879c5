// SPDX-License-Identifier: BSD-2-Clause
#include "layer/derivatives/jacobian.hpp"

#include "dtensor/arithmetic.hpp"
#include "layer/core/layer_setup.hpp"
#include "sys/log/log.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

bool isRandom(const Layer& layer) {
  if (layer.declaration().isRandom())
    return true;
  for (const Layer* child : layer.children())
    if (isRandom(*child))
      return true;
  return false;
}

bool hasRunningState(const Layer& layer) {
  if (!layer.ownStates().empty())
    return true;
  for (const Layer* child : layer.children())
    if (hasRunningState(*child))
      return true;
  return false;
}

Setup& differentiable(const Layer& layer, const DTensor& x) {
  const std::size_t inputs = layer.inputLayouts().size();
  if (inputs != 1)
    throw Error(
        TENON_ERR_SUPPORT,
        fmt::format("{} has {} inputs; a Jacobian needs a layer with one", layer.title(), inputs));
  if (isRandom(layer))
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("{} draws random numbers at each evaluation (dropout), so that it has "
                            "no Jacobian; use a network without such layers",
                            layer.title()));
  if (hasRunningState(layer))
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("{} has states that evaluations change (running statistics), so that "
                            "its Jacobian would be that of one evaluation alone; use a network "
                            "without batch normalisation and other layers with states",
                            layer.title()));
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
  checkIdle();
  isSet_ = false;
  copyLocal(x, *x_);
  const DTensor* one[] = {x_.get()};
  setup_.apply(Inputs(one), *y_, *frame_);
  isSet_ = true;
}

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
                    "TenonLinearOpJacobianSetPoint(), which evaluates the layer anew",
                    changed->first->name(), layer_->title(), title()));
}

void Jacobian::tangent(const DTensor& dx, DTensor& dy) {
  checkPoint();
  const ConstantParameters constant(setup_.maps());
  const DTensor* const read[] = {&dx};
  DTensor* const written[] = {&dy};
  const Inputs inputs = crossing_.enter(*layer_, read);
  setup_.tangent(*frame_, inputs, *crossing_.prepare(*layer_, written).front());
  crossing_.leave(written);
}

void Jacobian::adjoint(const DTensor& dy, DTensor& dx) {
  checkPoint();
  const ConstantParameters constant(setup_.maps());
  const DTensor* const read[] = {&dy};
  DTensor* const written[] = {&dx};
  const DTensor& given = *crossing_.enter(*layer_, read).front();
  setup_.adjoint(*frame_, given, crossing_.prepare(*layer_, written));
  crossing_.leave(written);
}

std::string Jacobian::agreedText() const {
  return fmt::format("{}; of ({})", Shell::agreedText(), layer_->agreedText());
}

std::string Jacobian::describeMore() const {
  return fmt::format("  of {}, at a point of its own\n", layer_->title());
}

Index Jacobian::bufferBytes() const {
  return heldBytes(x_, y_) + frame_->bytes() + crossing_.bytes();
}

} // namespace tenon
