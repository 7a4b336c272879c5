// SPDX-License-Identifier: BSD-2-Clause
// Brings a strided array from the device in one transfer into page-locked staging memory, which the
// context keeps for the next copy. Only the way back has to spare what lies between the elements.
#include "dtensor/host_copy.hpp"

#include "dtensor/arithmetic.hpp"
#include "kernels/movement/block_copy.hpp"

namespace tenon {

HostCopy::HostCopy(const DTensor& x, Values values)
    : x_(x), array_(spanOf(x)), values_(x.context().takeStaging(array_.bytes)) {
  if (values == Values::Fetched)
    x.context().fetch(values_.data<void>(), array_.begin, array_.bytes);
}

HostCopy::~HostCopy() {
  x_.context().giveStaging(std::move(values_));
}

void HostCopy::putBack() const {
  KernelContext& context = x_.context();
  auto* const begin = const_cast<std::byte*>(array_.begin);
  if (x_.isContiguous())
    return context.fetch(begin, values_.data<void>(), array_.bytes);
  // A user's array may have other data between the tensor's elements, which a kernel may have
  // written meanwhile. So the bytes go to a second array on the device, from which a kernel copies
  // the elements alone.
  Buffer arrived(array_.bytes, x_.title() + " values from the host", context.memory());
  context.fetch(arrived.data<void>(), values_.data<void>(), array_.bytes);
  visitDataType(x_.dataType(), [&]<class T>(T) {
    const Index* strides = x_.strides().data();
    blockAxpby<T, T>(context, x_.rank(), x_.extent().data(), T(1),
                     reinterpret_cast<const T*>(arrived.data<std::byte>() + array_.toFirst),
                     strides, T(0), reinterpret_cast<T*>(begin + array_.toFirst), strides);
  });
}

} // namespace tenon
