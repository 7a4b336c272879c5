// SPDX-License-Identifier: BSD-2-Clause
// Functors for elements that lie at listed places along one dimension of a box.
#pragma once

#include "kernels/walks/element_offsets.hpp"
#include "sys/device_code.hpp"
#include "sys/types.hpp"

namespace tenon {

// Where entry i of a list lies: positions [entries, dims] times the strides of those dimensions;
// or, with no list, i steps from the first.
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

// y = alpha w x + beta y. Offsets are those of x, of y and the number of the entry.
template <class T>
struct AxpbyListed {
  ElementOffsets<3> offsets;
  ListedPlaces from, to;
  const double* weights; // or null: ones
  T alpha;
  const T* x;
  T beta;
  T* y;

  TENON_DEVICE void operator()(Index element) const {
    const auto at = offsets(element);
    const Index i = at.of[2];
    T& into = y[at.of[1] + to.offset(i)];
    const T value = x[at.of[0] + from.offset(i)];
    one(weights ? alpha * static_cast<T>(weights[i]) : alpha, value, into);
  }
  // Without products where there is nothing to multiply, so that copies keep every bit.
  TENON_DEVICE void one(T factor, T value, T& into) const {
    const T scaled = factor == T(1) ? value : factor * value;
    into = beta == T(0) ? scaled : beta == T(1) ? scaled + into : scaled + beta * into;
  }
};

} // namespace functors

} // namespace tenon
