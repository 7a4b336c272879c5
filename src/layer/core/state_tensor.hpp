// SPDX-License-Identifier: BSD-2-Clause
// What a layer carries from step to step beside its parameters, such as running means: a tensor in
// a storage layout, and in those in which set-ups of the layer use it. The last to write it has its
// value, which others convert when they need it.
#pragma once

#include "declaration/core/form.hpp"
#include "layer/core/source.hpp"
#include "linop/linear_op.hpp"

namespace tenon {

class StateUse;

class StateTensor : public Object {
public:
  static constexpr const char* kClass = "StateTensor";
  // In the layout of its first use, with its initial value.
  StateTensor(CommPtr comm, const StateForm& form, TenonDataType type, Space space);

  // In the storage layout. Collective after a use has written. Who writes calls valueChanged() on
  // all ranks.
  DTensor& value();
  // Whether value() has to bring it there first; the same on all ranks.
  bool isBehind() const noexcept { return writer_ != nullptr; }
  void valueChanged() noexcept { ++version_; }
  // Held while an application runs again before its adjoint: it was counted when it ran first.
  void hold(bool held) noexcept { isHeld_ = held; }
  std::uint64_t state() const noexcept { return value_->state(); }
  const Layout& storage() const noexcept { return value_->layout(); }

private:
  friend class StateUse;
  CommPtr comm_;
  Ref<DTensor> value_;
  std::uint64_t version_ = 0;
  StateUse* writer_ = nullptr; // whose tensor is newer than the value
  bool isHeld_ = false;
};

class StateUse final : public Source {
public:
  StateUse(Ref<StateTensor> state, const Layout& use);
  ~StateUse() override;
  StateUse(const StateUse&) = delete;
  StateUse& operator=(const StateUse&) = delete;

  void begin() override;
  void end() override {}
  // In the use layout. Who writes, unless it is held, calls written() on all ranks.
  DTensor& value() noexcept { return toUse_ ? *used_ : *state_->value_; }
  void written() noexcept;
  bool isHeld() const noexcept { return state_->isHeld_; }

private:
  friend class StateTensor;
  Ref<StateTensor> state_;
  LinearOpRef toUse_, toStorage_; // null where both layouts hold the same memory
  Ref<DTensor> used_;
  std::uint64_t seen_ = ~std::uint64_t(0);
};

} // namespace tenon
