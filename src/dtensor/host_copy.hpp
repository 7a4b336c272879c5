// SPDX-License-Identifier: BSD-2-Clause
// The values of a tensor's array on the device, brought to the host and back.
#pragma once

#include "kernels/base/context.hpp"
#include "sys/types.hpp"

#include <cstddef>

namespace tenon {

// The bytes of a strided array.

// From the lowest to the highest element, and from the lowest to the first.
struct ByteSpan {
  const std::byte* begin = nullptr;
  Index bytes = 0, toFirst = 0;
};

class DTensor;

class HostCopy {
public:
  // Unset where the host writes every element of an array before it reads any.
  enum class Values { Fetched, Unset };
  // Waits for them. The tensor outlives the copy.
  explicit HostCopy(const DTensor& x, Values values = Values::Fetched);
  HostCopy(const HostCopy&) = delete;
  HostCopy& operator=(const HostCopy&) = delete;
  ~HostCopy();
  // Where the array's first element is; the others have the tensor's strides.
  void* first() const { return const_cast<std::byte*>(values_.data<std::byte>()) + array_.toFirst; }
  // The tensor's elements, and nothing between them.
  void putBack() const;

private:
  const DTensor& x_;
  ByteSpan array_;
  Buffer values_;
};

} // namespace tenon
