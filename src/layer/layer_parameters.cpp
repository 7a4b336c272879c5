// SPDX-License-Identifier: BSD-2-Clause
#include "layer/layer.hpp"

#include "layer/initializer.hpp"
#include "sys/log.hpp"
#include "sys/random.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

std::vector<Ref<Parameter>> Layer::parameters() const {
  std::vector<Ref<Parameter>> all = parameters_;
  for (const Layer* child : children())
    for (const Ref<Parameter>& p : child->parameters())
      if (std::none_of(all.begin(), all.end(), [&](const auto& q) { return q.get() == p.get(); }))
        all.push_back(p);
  return all;
}

void Layer::zeroGradients() {
  for (const Ref<Parameter>& p : parameters_)
    p->zeroGradient();
  for (Layer* child : children())
    child->zeroGradients();
}

void Layer::initialize(std::uint64_t seed, std::uint64_t stream, Fill fill) {
  if (!isSetUp())
    throw Error(TENON_ERR_STATE,
                fmt::format("{} has no parameters yet; call TenonLayerSetUp() first", title()));
  for (const Ref<Parameter>& p : parameters_)
    if (fill == Fill::All || !p->isInitialized())
      initializeParameter(*p, textOf("initializer"), seed, stream);
  if (declaration_->isRandom() && (fill == Fill::All || !random_.isSet))
    random_ = {true, seed, streamOf(fmt::format("dropout {}", stream)), 0};
  for (std::size_t i = 0; i < children_.size(); ++i)
    children_[i]->initialize(seed, streamOf(fmt::format("{} layer {}", stream, i)), fill);
}

int Layer::event() const {
  return logEvent((name().empty() ? type() : name()).c_str());
}

Ref<Parameter> Layer::parameter(const ParameterForm& form) {
  const std::string& name = form.name;
  for (const Ref<Parameter>& known : parameters_) {
    if (known->name() != name)
      continue;
    if (known->storage().shape() != form.use.shape())
      throw Error(
          TENON_ERR_SHAPE,
          fmt::format(
              "{} has parameter \"{}\" of shape [{}], but this input needs [{}]; use a new layer",
              title(), name, fmt::join(known->storage().shape(), ","),
              fmt::join(form.use.shape(), ",")));
    return known;
  }
  parameters_.push_back(
      makeRef<Parameter>(comm_, form, declaration_->storageLayout(form.use), type_, space_));
  parameters_.back()->setFrozen(frozen_);
  parameters_.back()->setEvent(event());
  if (!this->name().empty())
    parameters_.back()->value().setName(fmt::format("{}.{}", this->name(), name));
  return parameters_.back();
}

Ref<StateTensor> Layer::state(const StateForm& form) {
  for (const Ref<StateTensor>& known : states_)
    if (known->name() == form.name)
      return known;
  states_.push_back(makeRef<StateTensor>(comm_, form, type_, space_));
  return states_.back();
}

} // namespace tenon
