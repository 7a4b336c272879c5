// SPDX-License-Identifier: BSD-2-Clause
// heldBytes(): the memory that tensors and conversions have allocated now on this rank, for the
// text of views. Arrays of the caller or of other objects are not counted. A null reference counts
// 0 bytes.
#pragma once

#include "linop/linear_op.hpp"

namespace tenon {

inline Index heldBytes(const Ref<DTensor>& tensor) {
  return tensor ? tensor->arrayBytes() : 0;
}

inline Index heldBytes(const LinearOpRef& conversion) {
  return conversion ? conversion->bufferBytes() : 0;
}

template <class T>
Index heldBytes(const std::vector<Ref<T>>& list) {
  Index bytes = 0;
  for (const Ref<T>& held : list)
    bytes += heldBytes(held);
  return bytes;
}

template <class First, class... Others>
requires(sizeof...(Others) > 0) Index heldBytes(const First& first, const Others&... others) {
  return heldBytes(first) + (heldBytes(others) + ...);
}

} // namespace tenon
