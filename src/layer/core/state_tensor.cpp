// SPDX-License-Identifier: BSD-2-Clause
// States of a layer, such as the running statistics of batch normalisation. A layer can be set up
// for several input layouts. Each set-up has a StateUse, a copy of the state in the layout that its
// kernels use. The StateUse that wrote last has the current value, and the storage tensor is
// updated only when it is read. Kernels that update the state in every step therefore need no
// conversion. Version numbers tell which copy is current: written() increments that of the state,
// and begin() compares it with the version that the copy has seen.
#include "layer/core/state_tensor.hpp"

#include "dtensor/fill.hpp"
#include "geometry/layout/layout.hpp"
#include "linop/exchange/make_conversion.hpp"

#include <utility>

namespace tenon {

StateTensor::StateTensor(CommPtr comm, const StateForm& form, TenonDataType type, Space space)
    : Object(kClass), comm_(std::move(comm)),
      value_(makeRef<DTensor>(comm_, form.use, type, space)) {
  setName(form.name);
  value_->setName(form.name);
  fillConstant(*value_, form.initial);
}

DTensor& StateTensor::value() {
  if (StateUse* writer = std::exchange(writer_, nullptr))
    writer->toStorage_->apply(*writer->used_, *value_);
  return *value_;
}

// Collective if conversions are needed, since these plan the messages between ranks.
StateUse::StateUse(Ref<StateTensor> state, const Layout& use) : state_(std::move(state)) {
  if (haveSameMemory(state_->storage(), use))
    return;
  const TenonDataType type = state_->value_->dataType();
  const Space space = state_->value_->space();
  const MovementPolicy policy = MovementPolicy::fromOptions(space);
  toUse_ = makeConversion(state_->comm_, state_->storage(), use, type, policy);
  toStorage_ = makeConversion(state_->comm_, use, state_->storage(), type, policy);
  used_ = makeRef<DTensor>(state_->comm_, use, type, space);
  used_->allocate();
}

StateUse::~StateUse() {
  if (state_->writer_ == this)
    state_->writer_ = nullptr;
}

// Updates the copy of this set-up if another set-up or the user has written the state since. Equal
// on all ranks, because versions are.
void StateUse::begin() {
  if (seen_ == state_->version_)
    return;
  const DTensor& value = state_->value();
  if (toUse_)
    toUse_->apply(value, *used_);
  seen_ = state_->version_;
}

void StateUse::written() noexcept {
  seen_ = ++state_->version_;
  state_->writer_ = toUse_ ? this : nullptr;
}

} // namespace tenon
