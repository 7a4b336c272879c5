// SPDX-License-Identifier: BSD-2-Clause
// Access to the values of a tensor on the host, one by one, or to a whole tensor in another space.
// All other code passes the tensor's array to a kernel.
#pragma once

#include "dtensor/arithmetic.hpp"
#include "dtensor/dtensor.hpp"

#include <exception>
#include <optional>
#include <type_traits>

namespace tenon {

// HostView<T> writes, HostView<const T> reads; offsets are in the tensor's strides. For a device
// tensor the view is a copy, which is copied back at the end of the view, unless that is caused by
// an exception. For example, HostView<float>(x)[i * x.strides()[0]] = 1 sets element i of a tensor
// of one dimension.
template <class T>
class HostView {
public:
  using Tensor = std::conditional_t<std::is_const_v<T>, const DTensor, DTensor>;
  explicit HostView(Tensor& x) : elements_(elementsOf(x)) {
    if (x.space() == Space::Host || x.localElements() == 0)
      return;
    copy_.emplace(x);
    elements_ = static_cast<T*>(copy_->first());
  }
  HostView(const HostView&) = delete;
  HostView& operator=(const HostView&) = delete;
  ~HostView() noexcept(false) {
    if (!std::is_const_v<T> && copy_ && std::uncaught_exceptions() == exceptions_)
      copy_->putBack();
  }
  T& operator[](Index offset) const { return elements_[offset]; }

private:
  static T* elementsOf(Tensor& x) {
    if constexpr (std::is_const_v<T>)
      return x.template data<std::remove_const_t<T>>();
    else
      return x.template mutableData<T>();
  }
  T* elements_;
  std::optional<HostCopy> copy_;
  int exceptions_ = std::uncaught_exceptions();
};

// The number in a tensor of one element. On ranks without the element numberOf() returns 0, and
// setNumber() has no effect.
double numberOf(const DTensor& x);
void setNumber(DTensor& x, double value);

// Returns x if it is in this space, otherwise a copy of x in it, for which `copy` is reused or
// allocated. Waits until the values are copied; kernels of the communicator can then use the copy.
const DTensor& inSpace(const DTensor& x, const CommPtr& comm, Space space, Ref<DTensor>& copy);
// The same for a tensor that will be written: the copy is made without values.
DTensor& likeInSpace(DTensor& x, const CommPtr& comm, Space space, Ref<DTensor>& copy);

} // namespace tenon
