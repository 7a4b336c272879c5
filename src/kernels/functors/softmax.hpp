// SPDX-License-Identifier: BSD-2-Clause
// The pieces of rows/softmax.hpp and rows/cross_entropy.hpp, by element and by term of a sum.
#pragma once

#include "kernels/base/maximum.hpp"
#include "kernels/functors/elementary.hpp"
#include "sys/types.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

namespace tenon::functors {

// p = factor exp(z - shift); p may be z.
template <class T>
struct Softmax {
  T shift, factor;
  const T* z;
  T* p;
  TENON_DEVICE void operator()(Index i) const { p[i] = exponential(z[i] - shift) * factor; }
};

// Functors for element `at` of an array [outer, n, inner], to which element `of` of an array [outer, inner]
// belongs: write(at, read(at, of)).
template <class T>
struct ShiftedExponential {
  const T *x, *m;
  T* e;
  TENON_DEVICE T read(Index at, Index of) const { return exponential(x[at] - m[of]); }
  TENON_DEVICE void write(Index at, T value) const { e[at] = value; }
};
template <class T>
struct Spread {
  const T* s;
  T* y;
  TENON_DEVICE T read(Index, Index of) const { return s[of]; }
  TENON_DEVICE void write(Index at, T value) const { y[at] = value; }
};
template <class T>
struct Quotient {
  const T *e, *s;
  T* y;
  TENON_DEVICE T read(Index at, Index of) const { return e[at] / s[of]; }
  TENON_DEVICE void write(Index at, T value) const { y[at] = value; }
};
// de may be null.
template <class T>
struct QuotientTangent {
  const T *e, *s, *de, *ds;
  T* dy;
  TENON_DEVICE T read(Index at, Index of) const {
    return ((de ? de[at] : T(0)) - e[at] * ds[of] / s[of]) / s[of];
  }
  TENON_DEVICE void write(Index at, T value) const { dy[at] = value; }
};
// ds holds the sums of dy e.
template <class T>
struct QuotientSum {
  const T* s;
  T* ds;
  TENON_DEVICE void operator()(Index i) const { ds[i] /= -s[i] * s[i]; }
};

// s holds a factor for each element of [outer, inner].
template <class T>
struct Scaled {
  const T *x, *s;
  T* y;
  TENON_DEVICE T read(Index at, Index of) const { return x[at] * s[of]; }
  TENON_DEVICE void write(Index at, T value) const { y[at] = value; }
};
// y - x s
template <class T>
struct LessScaled {
  const T *x, *s;
  T* y;
  TENON_DEVICE T read(Index at, Index of) const { return y[at] - x[at] * s[of]; }
  TENON_DEVICE void write(Index at, T value) const { y[at] = value; }
};
// p (d - s): the cotangent of the scores of a softmax p, of which d is the cotangent and s the sum of p d.
template <class T>
struct SoftmaxSlope {
  const T *d, *s;
  T* p;
  TENON_DEVICE T read(Index at, Index of) const { return p[at] * (d[at] - s[of]); }
  TENON_DEVICE void write(Index at, T value) const { p[at] = value; }
};
// Scores of n keys from `key` on for rows of queries, which are `queries` to a matrix, from `query` on:
// -infinity where a key is behind the query.
template <class T>
struct Causal {
  Index n, queries, query, key;
  T* x;
  TENON_DEVICE T read(Index at, Index of) const {
    const bool isBehind = key + (at - of * n) > query + of % queries;
    return isBehind ? -std::numeric_limits<T>::infinity() : x[at];
  }
  TENON_DEVICE void write(Index at, T value) const { x[at] = value; }
};
// The maximum m of a row takes in another one, c, which becomes the factor exp(m before - m) of what was
// summed before: the sum s is brought to it. A row begins with the least number for m, not with -infinity,
// whose difference to itself is none.
template <class T>
struct RaisedMaximum {
  T *m, *s, *c;
  TENON_DEVICE void operator()(Index i) const {
    const T most = beats(c[i], m[i]) ? c[i] : m[i];
    c[i] = exponential(m[i] - most);
    m[i] = most;
    s[i] *= c[i];
  }
};
// m + log s, and m where nothing was summed: exp(x - r) is 0 for all x, which are -infinity there.
template <class T>
struct LogSum {
  const T *m, *s;
  T* r;
  TENON_DEVICE void operator()(Index i) const {
    r[i] = s[i] == T(0) ? m[i] : m[i] + std::log(s[i]);
  }
};
// e / s, and 0 where nothing was summed.
template <class T>
struct QuotientOrZero {
  const T *e, *s;
  T* y;
  TENON_DEVICE T read(Index at, Index of) const { return s[of] == T(0) ? T(0) : e[at] / s[of]; }
  TENON_DEVICE void write(Index at, T value) const { y[at] = value; }
};

// The derivative of the cross-entropy by row of logits; labels count over all classes, of which firstClass is
// the first in this array.
template <class T>
struct CrossEntropySlope {
  const T *z, *m, *s, *dloss;
  const std::int64_t* label;
  Index cols, firstClass;
  T* dz;
  TENON_DEVICE T read(Index at, Index row) const {
    const bool isLabel = label[row] - firstClass == at - row * cols;
    return exponential(z[at] - m[row]) * (dloss[row] / s[row]) - (isLabel ? dloss[row] : T(0));
  }
  TENON_DEVICE void write(Index at, T value) const { dz[at] = value; }
};
template <class T>
struct PickedLabel {
  const T* z;
  const std::int64_t* label;
  Index cols, firstClass;
  T* p;
  TENON_DEVICE void operator()(Index row) const {
    const Index c = label[row] - firstClass;
    p[row] = c >= 0 && c < cols ? z[row * cols + c] : T(0);
  }
};

// Terms along the dimension.
template <class T>
struct ElementOf {
  const T* x;
  TENON_DEVICE T operator()(Index at, Index) const { return x[at]; }
};
template <class T>
struct ProductOf {
  const T *a, *b;
  TENON_DEVICE T operator()(Index at, Index) const { return a[at] * b[at]; }
};
template <class T>
struct ExponentialOf {
  const T *x, *m;
  TENON_DEVICE T operator()(Index at, Index of) const { return exponential(x[at] - m[of]); }
};

// w (log s + m - p) of a row; w null stands for ones.
template <class T>
struct LogLikelihood {
  using Wide = double;
  const T *m, *s, *p, *w;
  TENON_DEVICE double operator()(Index, Index r) const {
    return (w ? double(w[r]) : 1.0) * (std::log(double(s[r])) + double(m[r]) - double(p[r]));
  }
};

// rows - r for a row whose label is not one of the classes, else 0, so that the maximum finds the first such row.
struct BadLabel {
  using Wide = Index;
  const std::int64_t* label;
  Index rows, classes;
  TENON_DEVICE Index operator()(Index, Index r) const {
    return label[r] < 0 || label[r] >= classes ? rows - r : 0;
  }
};

} // namespace tenon::functors
