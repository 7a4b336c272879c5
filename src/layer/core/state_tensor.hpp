// SPDX-License-Identifier: BSD-2-Clause
// A state that a layer carries from step to step besides its parameters, such as running means.
// StateTensor has the value in a storage layout. Each set-up of the layer has a StateUse: a copy in
// the layout that its kernels use. The copy that a kernel wrote last is the current value. The
// storage and the other copies are converted from this copy when they are read.
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
  // Whether a StateUse has a newer value than the storage. The next value() then converts it to the
  // storage. Equal on all ranks.
  bool isBehind() const noexcept { return writer_ != nullptr; }
  void valueChanged() noexcept { ++version_; }
  // hold(true) prevents updates until hold(false), while an Apply is recomputed for its adjoint:
  // the first run of this Apply has already updated the state with the batch.
  void hold(bool held) noexcept { isHeld_ = held; }
  // A counter that grows with every write to the storage.
  std::uint64_t state() const noexcept { return value_->state(); }
  const Layout& storage() const noexcept { return value_->layout(); }

private:
  friend class StateUse;
  CommPtr comm_;
  Ref<DTensor> value_;
  std::uint64_t version_ = 0;
  StateUse* writer_ = nullptr; // the use whose tensor is newer than value_
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
  // The value in the use layout. Must not be written while isHeld(). After a write, call written()
  // on all ranks.
  DTensor& value() noexcept { return toUse_ ? *used_ : *state_->value_; }
  void written() noexcept;
  bool isHeld() const noexcept { return state_->isHeld_; }

private:
  friend class StateTensor;
  Ref<StateTensor> state_;
  LinearOpRef toUse_, toStorage_; // null if both layouts have the same local arrays
  Ref<DTensor> used_;
  std::uint64_t seen_ = ~std::uint64_t(0); // version of the state that used_ has
};

} // namespace tenon
