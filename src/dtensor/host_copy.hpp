// SPDX-License-Identifier: BSD-2-Clause
// The values of an array on the device, brought to the host and back.
#pragma once

#include "dtensor/byte_span.hpp"
#include "kernels/context.hpp"

namespace tenon {

class HostCopy {
public:
  // Waits for them.
  HostCopy(KernelContext& context, const ByteSpan& array);
  // Where the array's first cell is.
  void* first() const { return const_cast<std::byte*>(values_.data<std::byte>()) + array_.toFirst; }
  void putBack() const;

private:
  KernelContext& context_;
  ByteSpan array_;
  Buffer values_;
};

} // namespace tenon
