// SPDX-License-Identifier: BSD-2-Clause
// Functors that compute a row y[i,:] from the rows x[e,:] of a list (sums, maxima, softmax,
// attention; definitions in rows/row_lists.hpp). block<N>(row, column) computes N adjacent elements
// of a row. The host uses an N for which the elements fit into registers; on the device a thread
// computes one element. The entries of a list are always combined in the order of the list: the
// order of a sum depends neither on the memory space nor on the number of threads. In the formulas,
// (+)= means = or, if `adds` is set, +=.
#pragma once

#include "kernels/base/independent.hpp"
#include "kernels/functors/elementary.hpp"
#include "kernels/walks/element_offsets.hpp"
#include "kernels/walks/stream.hpp"
#include "sys/device_code.hpp"
#include "sys/types.hpp"

#include <cstdint>

namespace tenon::functors {

// Calls f.block<1>(row, column) for one element of the rows from `first` on.
template <class F>
struct EachOfRows {
  Divisor length;
  Index first;
  F f;

  TENON_DEVICE void operator()(Index element) const {
    auto row = static_cast<std::uint32_t>(element);
    const Index column = length.divide(row);
    f.template block<1>(first + row, column);
  }
};

// The lists of rows, in the memory space of the kernel: list i has the entries first[i], ...,
// first[i + 1] - 1, and entry n reads row index[n] of x. If `first` is null, list i has only entry
// i.
struct ListedRows {
  const Index *first, *index;
  const double* weights;  // can be null: ones
  const Index* rowOfList; // can be null: list i belongs to row i
  Index last;             // index of the last entry

  TENON_DEVICE Index begin(Index row) const { return first ? first[row] : row; }
  TENON_DEVICE Index end(Index row) const { return first ? first[row + 1] : row + 1; }
  TENON_DEVICE Index rowOf(Index list) const { return rowOfList ? rowOfList[list] : list; }
  // A product with 1 preserves every bit.
  template <class T>
  TENON_DEVICE T weight(Index n) const {
    return weights ? static_cast<T>(weights[n]) : T(1);
  }
};

// y[i,:] (+)= sum over the entries n of list i of weights[n] x[index[n],:].
template <class T>
struct CombineRows {
  ListedRows lists;
  const T* x;
  Index stepX;
  bool adds;
  T* y;
  Index stepY;
  bool streams = false; // write y past the caches: see canStream()

  // Prefetches the row that the list refers to some entries later. Measured times relative to no
  // prefetch: sums of many rows 0.85, gathers of wide rows at random 0.72, gathers of narrow rows
  // that are in a cache 1.12 (hence the condition on the width).
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
    // The first entry is not added to 0, so a gather copies every bit.
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
  // To be called after the last row of a thread.
  void end() const {
    if (streams)
      endStream();
  }
};

// y[i,:] = the largest weights[n] x[index[n],:] over the entries n of list i, and winner[i,:] = the
// row index[n] of x that has it, or 0 and -1 for an empty list. A row has `length` elements.
template <class T>
struct MaximaOfRows {
  ListedRows lists;
  const T* x;
  Index length;
  T* y;
  Index* winner; // can be null

  template <int N>
  TENON_DEVICE void block(Index row, Index column) const {
    T maximum[N];
    Index best[N];
    TENON_ROLLED_LOOP
    for (int c = 0; c < N; ++c) {
      maximum[c] = T(0);
      best[c] = -1;
    }
    for (Index n = lists.begin(row); n < lists.end(row); ++n) {
      const Index from = lists.index[n];
      const T weight = lists.template weight<T>(n);
      TENON_ROLLED_LOOP
      for (int c = 0; c < N; ++c) {
        const T value = weight * x[from * length + column + c];
        // NaN differs from itself: the first NaN wins.
        if (best[c] < 0 || value > maximum[c] || (value != value && maximum[c] == maximum[c])) {
          best[c] = from;
          maximum[c] = value;
        }
      }
    }
    TENON_ROLLED_LOOP
    for (int c = 0; c < N; ++c)
      y[row * length + column + c] = maximum[c];
    if (winner) {
      TENON_ROLLED_LOOP
      for (int c = 0; c < N; ++c)
        winner[row * length + column + c] = best[c];
    }
  }
};

// dy[i,:] = w dx[winner[i,:],:], the tangent of the maxima, for lists that contain each row of x
// once: an entry has the number of the row that it reads.
template <class T>
struct TakeWinners {
  ListedRows lists; // transposed: weights[e] is the weight w of entry e
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

// dx[e,:] = w dy[i,:] if entry e is the winner of its row i, else 0: the adjoint of the maxima.
template <class T>
struct GiveWinners {
  ListedRows lists; // transposed: index[e] is the row i of entry e, weights[e] its weight w
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

// y[e,:] = exp(x[e,:] - m) / s for the entries e of each row, where m is their maximum and s the
// sum.
template <class T>
struct SoftmaxOfRows {
  ListedRows lists;
  const T* x;
  Index length;
  T* y;

  template <int N>
  TENON_DEVICE void block(Index row, Index column) const {
    const Index begin = lists.begin(row), end = lists.end(row);
    T maximum[N] = {}, sum[N] = {};
    for (Index n = begin; n < end; ++n) {
      TENON_ROLLED_LOOP
      for (int c = 0; c < N; ++c) {
        const T value = x[lists.index[n] * length + column + c];
        maximum[c] = n == begin || value > maximum[c] ? value : maximum[c];
      }
    }
    for (Index n = begin; n < end; ++n) {
      const Index at = lists.index[n] * length + column;
      TENON_ROLLED_LOOP
      for (int c = 0; c < N; ++c) {
        const T value = exponential(x[at + c] - maximum[c]);
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

// r[e,:] = y[e,:] (d[e,:] - sum of y d over the entries of the row): the derivative of the softmax
// y, which is symmetric. r can be d.
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

// y[i,c] (+)= sum over the entries e of row i of  a[e, head of c] x[e,c]; a head has `each`
// columns.
template <class T>
struct WeighHeads {
  ListedRows lists;
  const T* a; // a[e,h]: the weight of entry e in head h
  Index heads;
  Divisor each;
  const T* x;
  bool adds;
  T* y;

  template <int N>
  TENON_DEVICE void block(Index row, Index column) const {
    const Index length = heads * each.divisor();
    T sum[N];
    Index head[N];
    TENON_ROLLED_LOOP
    for (int c = 0; c < N; ++c) {
      sum[c] = adds ? y[row * length + column + c] : T(0);
      auto quotient = static_cast<std::uint32_t>(column + c);
      each.divide(quotient);
      head[c] = quotient;
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

// The adjoint of WeighHeads, per entry and head: dx[e,c] = a[e,h] dy[i,c], and da[e,h] = sum over
// the columns c of the head of x[e,c] dy[i,c]. dx or da can be null.
template <class T>
struct GiveHeads {
  ListedRows lists; // transposed: index[e] is the row i of entry e
  const T* a;
  Index heads, each;
  const T* x;
  const T* dy;
  T* dx;
  T* da;

  // Here the columns are heads.
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
