// SPDX-License-Identifier: BSD-2-Clause
#include "dtensor/host_copy.hpp"

namespace tenon {

HostCopy::HostCopy(KernelContext& context, const ByteSpan& array)
    : context_(context), array_(array),
      values_(array.bytes, "values on the host", Device::get().pinned()) {
  context.fetch(values_.data<void>(), array.begin, array.bytes);
}

void HostCopy::putBack() const {
  context_.fetch(const_cast<std::byte*>(array_.begin), values_.data<void>(), array_.bytes);
}

} // namespace tenon
