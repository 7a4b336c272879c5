// SPDX-License-Identifier: BSD-2-Clause
// Elements at listed positions along one dimension of a box (movement/listed_block.hpp): the offset
// of an entry of a list, and the functor that copies or adds one element on the device.
#pragma once

#include "kernels/walks/element_offsets.hpp"
#include "sys/device_code.hpp"
#include "sys/types.hpp"

namespace tenon {

// Offset of entry i of a list: positions [entries, dims] times the strides of those dimensions, or
// i steps from the first entry if there is no list. Example: with dims = 1, positions = {7, 2, 5}
// and steps = {10}, entry 1 has the offset 20.
struct ListedPlaces {
  const Index* positions = nullptr;
  int dims = 1;
  Index steps[kMaxBlockRank] = {};

  TENON_DEVICE Index offset(Index i) const {
    if (!positions)
      return i * steps[0];
    Index sum = 0;
    for (int d = 0; d < dims; ++d)
      sum += positions[i * dims + d] * steps[d];
    return sum;
  }
};

namespace functors {

// y = alpha w x + beta y. The offsets are those in x, in y, and the index of the entry, counted
// from `first`.
template <class T>
struct AxpbyListed {
  ElementOffsets<3> offsets;
  Index first;
  ListedPlaces from, to;
  const double* weights; // can be null: ones
  T alpha;
  const T* x;
  T beta;
  T* y;

  TENON_DEVICE void operator()(Index element) const {
    const auto offset = offsets(element);
    const Index i = first + offset.of[2];
    T& target = y[offset.of[1] + to.offset(i)];
    const T value = x[offset.of[0] + from.offset(i)];
    combine(weights ? alpha * static_cast<T>(weights[i]) : alpha, value, target);
  }
  // Omits products with 1 and 0: copies then preserve every bit.
  TENON_DEVICE void combine(T factor, T value, T& target) const {
    const T scaled = factor == T(1) ? value : factor * value;
    target = beta == T(0) ? scaled : beta == T(1) ? scaled + target : scaled + beta * target;
  }
};

} // namespace functors

} // namespace tenon
