// SPDX-License-Identifier: BSD-2-Clause
#include "layer/layer.hpp"

#include <fmt/format.h>

namespace tenon {

Layer::Layer(CommPtr comm) : Object(kClass), comm_(std::move(comm)), declaration_(makeUntyped()) {}

void Layer::checkIdle(std::string_view call) const {
  if (atWork_)
    throw Error(TENON_ERR_STATE,
                fmt::format("{} is not allowed in a function that {} calls itself; use another "
                            "layer there",
                            call, title()));
}

void Layer::checkBeforeSetUp(const std::string& call) const {
  checkIdle(call);
  if (isSetUp())
    throw Error(TENON_ERR_STATE,
                fmt::format("{} is not allowed after {} was set up; do it before TenonLayerSetUp()",
                            call, title()));
}

template <class Change>
void Layer::change(const std::string& call, Change&& change) {
  checkBeforeSetUp(call);
  declaration_->setTitle(title());
  change();
  readSettings();
}

void Layer::readSettings() {
  type_ = textOf("data_type") == "float64" ? TENON_FLOAT64 : TENON_FLOAT32;
  space_ = textOf("space") == "device" ? Space::Device : Space::Host;
  depth_ = static_cast<int>(declaration_->value<Index>("stack_depth"));
}

std::string Layer::textOf(std::string_view name) const {
  return declaration_->value<std::string>(name);
}

void Layer::declare(std::unique_ptr<Declaration> declaration, SetUpFunction setUp) {
  change("changing the type", [&] {
    if (!nodes_.empty())
      throw Error(TENON_ERR_STATE,
                  fmt::format("{} has layers already, so that its type stays {}; create another",
                              title(), type()));
    declaration->setTitle(title());
    declaration->takeSettings(*declaration_);
    declaration_ = std::move(declaration);
    setUp_ = std::move(setUp);
  });
}

void Layer::set(std::string_view name, SettingValue value) {
  change(fmt::format("changing the setting \"{}\"", name),
         [&] { declaration_->set(name, std::move(value)); });
}

void Layer::setText(std::string_view name, std::string_view text) {
  change(fmt::format("changing the setting \"{}\"", name),
         [&] { declaration_->setText(name, text); });
}

void Layer::setDataType(TenonDataType type) {
  checkFloating(type, "a layer");
  set("data_type", std::string(dataTypeName(type)));
}

void Layer::setOutputLayout(const Layout& layout) {
  change("TenonLayerSetOutputLayout()", [&] { declaration_->setOutputLayout(layout); });
}

void Layer::setUses(Layouts uses) {
  uses_ = std::move(uses);
}

void Layer::setFromOptions() {
  change("TenonLayerSetFromOptions()", [&] { declaration_->readOptions(prefix()); });
  for (Layer* child : children())
    child->setFromOptions();
}

void Layer::setTraining(bool training) {
  training_ = training;
  for (Layer* child : children())
    child->setTraining(training);
}

void Layer::setFrozen(bool frozen) {
  frozen_ = frozen;
  for (const Ref<Parameter>& p : parameters_)
    p->setFrozen(frozen);
  for (Layer* child : children())
    child->setFrozen(frozen);
}

void Layer::setTarget(Ref<DTensor> target) {
  if (!declaration_->takesTarget())
    throw Error(TENON_ERR_TYPE,
                fmt::format("{} has type {}, which takes no target; only losses do, such as "
                            "meansquarederror and crossentropy",
                            title(), type()));
  target_ = std::move(target);
}

const DTensor& Layer::target() const {
  if (!target_)
    throw Error(TENON_ERR_STATE,
                fmt::format("{} has no target; call TenonLayerSetTarget() before TenonLayerApply()",
                            title()));
  return *target_;
}

void Layer::setTargetWeights(Ref<DTensor> weights) {
  if (!declaration_->takesTargetWeights())
    throw Error(TENON_ERR_TYPE,
                fmt::format("{}, of type {}, takes no weights; only losses do whose "
                            "setting loss_weights is \"sample\" or \"element\"",
                            title(), type()));
  targetWeights_ = std::move(weights);
}

const DTensor& Layer::targetWeights() const {
  if (!targetWeights_)
    throw Error(TENON_ERR_STATE,
                fmt::format("{} has no weights; call TenonLayerSetTargetWeights() before "
                            "TenonLayerApply(), or leave the setting loss_weights at \"none\"",
                            title()));
  return *targetWeights_;
}

} // namespace tenon
