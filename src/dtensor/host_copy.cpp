// SPDX-License-Identifier: BSD-2-Clause
// Copies a strided array from the device in one transfer into page-locked staging memory, which the
// context reuses. Only the copy back has to preserve the bytes between the elements.
#include "dtensor/host_copy.hpp"

#include "dtensor/arithmetic.hpp"
#include "kernels/movement/block_copy.hpp"

namespace tenon {

HostCopy::HostCopy(const DTensor& x, Values values)
    : x_(x), array_(spanOf(x)), values_(x.context().takeStaging(array_.bytes)) {
  if (values == Values::Fetched)
    x.context().copyAndWait(values_.data<void>(), array_.begin, array_.bytes);
}

HostCopy::~HostCopy() {
  x_.context().giveStaging(std::move(values_));
}

void HostCopy::putBack() const {
  KernelContext& context = x_.context();
  auto* const begin = const_cast<std::byte*>(array_.begin);
  if (x_.isContiguous())
    return context.copyAndWait(begin, values_.data<void>(), array_.bytes);
  // Between the tensor's elements a user array can have other data, which a kernel can have changed
  // since. So the bytes are sent to a temporary array on the device, from which a kernel copies
  // only the elements.
  Buffer received(array_.bytes, x_.title() + " values from the host", context.memory());
  context.copyAndWait(received.data<void>(), values_.data<void>(), array_.bytes);
  visitDataType(x_.dataType(), [&]<class T>(T) {
    const Index* strides = x_.strides().data();
    blockAxpby<T, T>(context, x_.ndim(), x_.extent().data(), T(1),
                     reinterpret_cast<const T*>(received.data<std::byte>() + array_.toFirst),
                     strides, T(0), reinterpret_cast<T*>(begin + array_.toFirst), strides);
  });
}

} // namespace tenon
