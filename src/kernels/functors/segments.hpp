// SPDX-License-Identifier: BSD-2-Clause
// Functors for an element of a row that is made from the rows of a segment. A thread of the device has one
// element, a thread of the host goes from row to row.
#pragma once

#include "kernels/walks/element_offsets.hpp"
#include "sys/device_code.hpp"
#include "sys/types.hpp"

#include <cstdint>

namespace tenon::functors {

// f.one(row, column) for the element of that number.
template <class F>
struct EachOfRows {
  Divisor length;
  F f;

  TENON_DEVICE void operator()(Index element) const {
    auto row = static_cast<std::uint32_t>(element);
    const Index column = length.divide(row);
    f.one(row, column);
  }
};

template <class T>
struct SumSegments {
  Index length; // of a row
  const Index *first, *order;
  const double* weights; // or null: ones
  const T* m;
  bool adds;
  T* a;

  TENON_DEVICE void one(Index target, Index column) const {
    T sum = adds ? a[target * length + column] : T(0);
    for (Index n = first[target]; n < first[target + 1]; ++n) {
      const T value = m[order[n] * length + column];
      sum += weights ? static_cast<T>(weights[order[n]]) * value : value;
    }
    a[target * length + column] = sum;
  }
  // A whole row on the host, entry by entry: the same sums in the same order.
  void row(Index target) const {
    T* __restrict to = a + target * length;
    if (!adds)
      for (Index c = 0; c < length; ++c)
        to[c] = T(0);
    for (Index n = first[target]; n < first[target + 1]; ++n) {
      const Index e = order[n];
      const T* __restrict from = m + e * length;
      if (weights) {
        const T weight = static_cast<T>(weights[e]);
        for (Index c = 0; c < length; ++c)
          to[c] += weight * from[c];
      } else {
        for (Index c = 0; c < length; ++c)
          to[c] += from[c];
      }
    }
  }
};

template <class T>
struct MaxSegments {
  Index length;
  const Index *first, *order;
  const T* m;
  T* a;
  Index* winner;

  TENON_DEVICE void one(Index target, Index column) const {
    Index best = -1;
    T most = T(0);
    for (Index n = first[target]; n < first[target + 1]; ++n) {
      const T value = m[order[n] * length + column];
      // A NaN differs from itself.
      if (best < 0 || value > most || (value != value && most == most)) {
        best = order[n];
        most = value;
      }
    }
    a[target * length + column] = most;
    winner[target * length + column] = best;
  }
  void row(Index target) const {
    for (Index c = 0; c < length; ++c)
      one(target, c);
  }
};

// dm[e,:] = da[target[e],:] where e is the winner, else 0.
template <class T>
struct WinnerRows {
  Index length;
  const Index *target, *winner;
  const T* da;
  T* dm;

  TENON_DEVICE void one(Index entry, Index column) const {
    const Index at = target[entry] * length + column;
    dm[entry * length + column] = winner[at] == entry ? da[at] : T(0);
  }
  void row(Index entry) const {
    for (Index c = 0; c < length; ++c)
      one(entry, c);
  }
};

} // namespace tenon::functors
