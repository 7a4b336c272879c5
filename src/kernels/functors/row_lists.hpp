// SPDX-License-Identifier: BSD-2-Clause
// Functors for rows that are made of listed rows (rows/row_lists.hpp), N neighbouring elements of a
// row at a time: the host takes blocks that fit into registers, a thread of the device has one
// element. In either case the entries of a row are added in the order of its list.
#pragma once

#include "kernels/base/independent.hpp"
#include "kernels/functors/elementary.hpp"
#include "kernels/walks/element_offsets.hpp"
#include "kernels/walks/stream.hpp"
#include "sys/device_code.hpp"
#include "sys/types.hpp"

#include <cstdint>

namespace tenon::functors {

// f.block<1>(row, column) for the element of that number.
template <class F>
struct EachOfRows {
  Divisor length;
  F f;

  TENON_DEVICE void operator()(Index element) const {
    auto row = static_cast<std::uint32_t>(element);
    const Index column = length.divide(row);
    f.template block<1>(row, column);
  }
};

// The lists of rows in the space of the kernel. Without `first` entry i is that of row i.
struct ListedRows {
  const Index *first, *index;
  const double* weights; // or null: ones
  const Index* to;       // or null: as they are numbered
  Index last;            // entry of all

  TENON_DEVICE Index begin(Index row) const { return first ? first[row] : row; }
  TENON_DEVICE Index end(Index row) const { return first ? first[row + 1] : row + 1; }
  TENON_DEVICE Index rowOf(Index list) const { return to ? to[list] : list; }
  // A product with 1 keeps every bit.
  template <class T>
  TENON_DEVICE T weight(Index n) const {
    return weights ? static_cast<T>(weights[n]) : T(1);
  }
};

template <class T>
struct CombineRows {
  ListedRows lists;
  const T* x;
  Index stepX;
  bool adds;
  T* y;
  Index stepY;
  bool streams = false; // to y, past the caches: see canStream()

  // What the list takes some entries further on is on its way meanwhile. Sums of many rows took
  // 0.85 of the time so, gathers of wide rows from anywhere 0.72, and those of narrow rows that are
  // in a cache 1.12.
  template <int N>
  TENON_DEVICE void fetchAhead([[maybe_unused]] Index n, [[maybe_unused]] Index column) const {
#ifndef TENON_FOR_DEVICE
    constexpr Index kAhead = 24;
    if constexpr (N * sizeof(T) >= kLine) {
      const T* row = x + lists.index[n + kAhead < lists.last ? n + kAhead : lists.last] * stepX;
      for (std::size_t c = 0; c < N; c += kLine / sizeof(T))
        fetchLine(row + column + c);
    }
#endif
  }

  template <int N>
  TENON_DEVICE void block(Index row, Index column) const {
    T* to = y + lists.rowOf(row) * stepY + column;
    T sum[N];
    Index n = lists.begin(row);
    const Index end = lists.end(row);
    TENON_ROLLED_LOOP
    for (int c = 0; c < N; ++c)
      sum[c] = adds ? to[c] : T(0);
    // The first entry is no contribution, so that a gather copies every bit.
    if (!adds && n < end) {
      const T* from = x + lists.index[n] * stepX + column;
      fetchAhead<N>(n, column);
      const T weight = lists.template weight<T>(n++);
      TENON_ROLLED_LOOP
      for (int c = 0; c < N; ++c)
        sum[c] = weight * from[c];
    }
    for (; n < end; ++n) {
      const T* from = x + lists.index[n] * stepX + column;
      fetchAhead<N>(n, column);
      const T weight = lists.template weight<T>(n);
      TENON_ROLLED_LOOP
      for (int c = 0; c < N; ++c)
        sum[c] += weight * from[c];
    }
#ifndef TENON_FOR_DEVICE
    if (streams && N * sizeof(T) >= kLine)
      return streamStores(sum, to, N);
#endif
    TENON_ROLLED_LOOP
    for (int c = 0; c < N; ++c)
      to[c] = sum[c];
  }
  // After the last row of a thread.
  void end() const {
    if (streams)
      endStream();
  }
};

template <class T>
struct MaximaOfRows {
  ListedRows lists;
  const T* x;
  Index length;
  T* y;
  Index* winner; // or null

  template <int N>
  TENON_DEVICE void block(Index row, Index column) const {
    T most[N];
    Index best[N];
    TENON_ROLLED_LOOP
    for (int c = 0; c < N; ++c) {
      most[c] = T(0);
      best[c] = -1;
    }
    for (Index n = lists.begin(row); n < lists.end(row); ++n) {
      const Index from = lists.index[n];
      const T weight = lists.template weight<T>(n);
      TENON_ROLLED_LOOP
      for (int c = 0; c < N; ++c) {
        const T value = weight * x[from * length + column + c];
        // A NaN differs from itself.
        if (best[c] < 0 || value > most[c] || (value != value && most[c] == most[c])) {
          best[c] = from;
          most[c] = value;
        }
      }
    }
    TENON_ROLLED_LOOP
    for (int c = 0; c < N; ++c)
      y[row * length + column + c] = most[c];
    if (winner)
      TENON_ROLLED_LOOP
    for (int c = 0; c < N; ++c)
      winner[row * length + column + c] = best[c];
  }
};

// dy[i,:] = w dx[winner[i,:],:]
template <class T>
struct TakeWinners {
  ListedRows lists; // by entry
  const Index* winner;
  const T* dx;
  Index length;
  T* dy;

  template <int N>
  TENON_DEVICE void block(Index row, Index column) const {
    TENON_ROLLED_LOOP
    for (int c = 0; c < N; ++c) {
      const Index at = row * length + column + c, from = winner[at];
      dy[at] = from < 0 ? T(0) : lists.template weight<T>(from) * dx[from * length + column + c];
    }
  }
};

// dx[e,:] = w dy[i,:] where e is the winner of its row i, else 0.
template <class T>
struct GiveWinners {
  ListedRows lists; // by entry: its row
  const Index* winner;
  const T* dy;
  Index length;
  T* dx;

  template <int N>
  TENON_DEVICE void block(Index entry, Index column) const {
    const Index row = lists.index[entry];
    const T weight = lists.template weight<T>(entry);
    TENON_ROLLED_LOOP
    for (int c = 0; c < N; ++c) {
      const Index at = row * length + column + c;
      dx[entry * length + column + c] = winner[at] == entry ? weight * dy[at] : T(0);
    }
  }
};

// y[e,:] = exp(x[e,:] - m) / s over the entries e of each row, with their maximum m and sum s.
template <class T>
struct SoftmaxOfRows {
  ListedRows lists;
  const T* x;
  Index length;
  T* y;

  template <int N>
  TENON_DEVICE void block(Index row, Index column) const {
    const Index begin = lists.begin(row), end = lists.end(row);
    T most[N] = {}, sum[N] = {};
    for (Index n = begin; n < end; ++n)
      TENON_ROLLED_LOOP
    for (int c = 0; c < N; ++c) {
      const T value = x[lists.index[n] * length + column + c];
      most[c] = n == begin || value > most[c] ? value : most[c];
    }
    for (Index n = begin; n < end; ++n) {
      const Index at = lists.index[n] * length + column;
      TENON_ROLLED_LOOP
      for (int c = 0; c < N; ++c) {
        const T value = exponential(x[at + c] - most[c]);
        y[at + c] = value;
        sum[c] = n == begin ? value : sum[c] + value;
      }
    }
    for (Index n = begin; n < end; ++n) {
      const Index at = lists.index[n] * length + column;
      TENON_ROLLED_LOOP
      for (int c = 0; c < N; ++c)
        y[at + c] /= sum[c];
    }
  }
};

// r[e,:] = y[e,:] (d[e,:] - the sum of y d over the entries of the row): the derivative of a
// softmax y, which is its own transpose. r may be d.
template <class T>
struct SoftmaxDerivative {
  ListedRows lists;
  const T* y;
  const T* d;
  Index length;
  T* r;

  template <int N>
  TENON_DEVICE void block(Index row, Index column) const {
    T sum[N];
    TENON_ROLLED_LOOP
    for (int c = 0; c < N; ++c)
      sum[c] = T(0);
    for (Index n = lists.begin(row); n < lists.end(row); ++n) {
      const Index at = lists.index[n] * length + column;
      TENON_ROLLED_LOOP
      for (int c = 0; c < N; ++c)
        sum[c] += y[at + c] * d[at + c];
    }
    for (Index n = lists.begin(row); n < lists.end(row); ++n) {
      const Index at = lists.index[n] * length + column;
      TENON_ROLLED_LOOP
      for (int c = 0; c < N; ++c)
        r[at + c] = y[at + c] * (d[at + c] - sum[c]);
    }
  }
};

// y[i,c] = sum over the entries e of row i of  a[e, head of c] x[e,c], or is added to; `each` columns have one head.
template <class T>
struct WeighHeads {
  ListedRows lists;
  const T* a;
  Index heads, each;
  const T* x;
  bool adds;
  T* y;

  template <int N>
  TENON_DEVICE void block(Index row, Index column) const {
    const Index length = heads * each;
    T sum[N];
    Index head[N];
    TENON_ROLLED_LOOP
    for (int c = 0; c < N; ++c) {
      sum[c] = adds ? y[row * length + column + c] : T(0);
      head[c] = (column + c) / each;
    }
    for (Index n = lists.begin(row); n < lists.end(row); ++n) {
      const Index from = lists.index[n];
      TENON_ROLLED_LOOP
      for (int c = 0; c < N; ++c)
        sum[c] += a[from * heads + head[c]] * x[from * length + column + c];
    }
    TENON_ROLLED_LOOP
    for (int c = 0; c < N; ++c)
      y[row * length + column + c] = sum[c];
  }
};

// The adjoint of WeighHeads by entry and head: dx[e,c] = a[e,h] dy[i,c], da[e,h] = sum over the
// head's c of x[e,c] dy[i,c]. Either may be null.
template <class T>
struct GiveHeads {
  ListedRows lists; // by entry: its row
  const T* a;
  Index heads, each;
  const T* x;
  const T* dy;
  T* dx;
  T* da;

  template <int N>
  TENON_DEVICE void block(Index entry, Index column) const {
    const Index row = lists.index[entry];
    TENON_ROLLED_LOOP
    for (int h = 0; h < N; ++h) {
      const Index at = entry * heads + column + h;
      const T* from = dy + (row * heads + column + h) * each;
      T sum = T(0);
      for (Index c = 0; da && c < each; ++c)
        sum += x[at * each + c] * from[c];
      for (Index c = 0; dx && c < each; ++c)
        dx[at * each + c] = a[at] * from[c];
      if (da)
        da[at] = sum;
    }
  }
};

} // namespace tenon::functors
