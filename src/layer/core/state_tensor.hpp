// SPDX-License-Identifier: BSD-2-Clause
// A state that a layer carries from step to step besides its parameters, such as running means: one
// tensor in a storage layout, and one in each layout in which set-ups use it. The most recent
// writer has the current value; the others convert it when they need it.
#pragma once

#include "declaration/core/form.hpp"
#include "layer/core/source.hpp"
#include "linop/linear_op.hpp"

namespace tenon {

class StateUse;

class StateTensor : public Object {
public:
  static constexpr const char* kClass = "StateTensor";
  // Creates the state in the layout of its first use, with its initial value.
  StateTensor(CommPtr comm, const StateForm& form, TenonDataType type, Space space);

  // The value in the storage layout. Collective if isBehind(). After a write, call valueChanged()
  // on all ranks.
  DTensor& value();
  // Whether a use has a newer value, which value() converts first; the same on all ranks.
  bool isBehind() const noexcept { return writer_ != nullptr; }
  void valueChanged() noexcept { ++version_; }
  // Prevents updates while an Apply is recomputed for its adjoint, as it was counted the first
  // time.
  void hold(bool held) noexcept { isHeld_ = held; }
  std::uint64_t state() const noexcept { return value_->state(); }
  const Layout& storage() const noexcept { return value_->layout(); }

private:
  friend class StateUse;
  CommPtr comm_;
  Ref<DTensor> value_;
  std::uint64_t version_ = 0;
  StateUse* writer_ = nullptr; // its tensor is newer than the value
  bool isHeld_ = false;
};

// A state in one set-up of a layer.
class StateUse final : public Source {
public:
  StateUse(Ref<StateTensor> state, const Layout& use);
  ~StateUse() override;
  StateUse(const StateUse&) = delete;
  StateUse& operator=(const StateUse&) = delete;

  void begin() override;
  void end() override {}
  // The value in the use layout. After a write, which is not allowed if it is held, call written()
  // on all ranks.
  DTensor& value() noexcept { return toUse_ ? *used_ : *state_->value_; }
  void written() noexcept;
  bool isHeld() const noexcept { return state_->isHeld_; }

private:
  friend class StateTensor;
  Ref<StateTensor> state_;
  LinearOpRef toUse_, toStorage_; // null if both layouts have the same local arrays
  Ref<DTensor> used_;
  std::uint64_t seen_ = ~std::uint64_t(0);
};

} // namespace tenon
