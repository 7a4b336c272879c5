// SPDX-License-Identifier: BSD-2-Clause
// The values of a tensor's array on the device, brought to the host and back. The copy includes
// what lies between the tensor's elements, since one contiguous transfer is faster than many small
// ones.
#pragma once

#include "kernels/base/context.hpp"
#include "sys/types.hpp"

#include <cstddef>

namespace tenon {

// The bytes of a strided array from its lowest to its highest element. `toFirst` leads from the
// lowest element to the one with all indices 0, which is another where a stride is negative.
struct ByteSpan {
  const std::byte* begin = nullptr;
  Index bytes = 0, toFirst = 0;
};

class DTensor;

class HostCopy {
public:
  // Unset is for a host that writes every element before it reads any.
  enum class Values { Fetched, Unset };
  // Waits for the values if they are fetched. The tensor must outlive the copy.
  explicit HostCopy(const DTensor& x, Values values = Values::Fetched);
  HostCopy(const HostCopy&) = delete;
  HostCopy& operator=(const HostCopy&) = delete;
  ~HostCopy();
  // The copy of the tensor's first element; the others follow with the tensor's strides.
  void* first() const { return const_cast<std::byte*>(values_.data<std::byte>()) + array_.toFirst; }
  // Writes the tensor's elements back, and leaves what lies between them on the device unchanged.
  void putBack() const;

private:
  const DTensor& x_;
  ByteSpan array_;
  Buffer values_;
};

} // namespace tenon
