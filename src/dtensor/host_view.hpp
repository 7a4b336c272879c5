// SPDX-License-Identifier: BSD-2-Clause
// The values of a tensor on the host, one by one, or a whole tensor in another space. Everything
// else hands a tensor's array to a kernel.
#pragma once

#include "dtensor/arithmetic.hpp"
#include "dtensor/dtensor.hpp"

#include <exception>
#include <optional>
#include <type_traits>

namespace tenon {

// HostView<T> writes, HostView<const T> reads; offsets are those of the tensor's strides. The view
// of a tensor on the device is a copy, which is put back as the view ends, unless an exception ends
// it.
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
    if (!std::is_const_v<T> && copy_ && std::uncaught_exceptions() == thrown_)
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
  int thrown_ = std::uncaught_exceptions();
};

// The number in a tensor of one element: 0 on ranks that do not hold it, where setNumber does
// nothing.
double numberOf(const DTensor& x);
void setNumber(DTensor& x, double value);

// x itself if it is in this space, and otherwise a copy of x there, for which `copy` is used or
// made. The host waits for the values to be copied; kernels of the communicator may use the copy.
const DTensor& inSpace(const DTensor& x, const CommPtr& comm, Space space, Ref<DTensor>& copy);
// The same for a tensor that will be written: a copy is made without the values.
DTensor& likeInSpace(DTensor& x, const CommPtr& comm, Space space, Ref<DTensor>& copy);

} // namespace tenon
