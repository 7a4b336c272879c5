// SPDX-License-Identifier: BSD-2-Clause
// HostCopy: the values of a device array copied to the host and back, for code that accesses single
// values on the host (HostView), and for arithmetic between arrays in different spaces. The copy
// includes the bytes between the tensor's elements, since one contiguous transfer is faster than
// many small ones.
#pragma once

#include "kernels/base/context.hpp"
#include "sys/types.hpp"

#include <cstddef>

namespace tenon {

// The bytes of a strided array from its lowest to its highest element. `toFirst` is the offset of
// the element with all indices 0 from the lowest element, which is nonzero if a stride is negative.
struct ByteSpan {
  const std::byte* begin = nullptr;
  Index bytes = 0, toFirst = 0;
};

class DTensor;

class HostCopy {
public:
  // Unset: for callers that write every element before they read any.
  enum class Values { Fetched, Unset };
  // Waits for the values if they are fetched. The tensor must outlive the copy.
  explicit HostCopy(const DTensor& x, Values values = Values::Fetched);
  HostCopy(const HostCopy&) = delete;
  HostCopy& operator=(const HostCopy&) = delete;
  ~HostCopy();
  // The copy of the tensor's first element; the tensor's strides apply.
  void* first() const { return const_cast<std::byte*>(values_.data<std::byte>()) + array_.toFirst; }
  // Writes the tensor's elements back; bytes between them are unchanged on the device.
  void putBack() const;

private:
  const DTensor& x_;
  ByteSpan array_; // On the device.
  Buffer values_;  // The same bytes on the host.
};

} // namespace tenon
