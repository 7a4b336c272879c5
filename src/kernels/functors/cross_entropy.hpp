// SPDX-License-Identifier: BSD-2-Clause
// Functors (structs with the arrays of a kernel and the operation for one element, for host and
// device) for the steps of rows/cross_entropy.hpp. Logits z are viewed as [outer, n, inner]; a line
// is the n logits of one label, element `line` of the arrays [outer, inner]: m, the maxima over all
// classes, s, the sums of exp(z - m), p, the logits of the labels, and the labels themselves.
// Labels count over all classes; this array has n of them, from firstClass on.
#pragma once

#include "kernels/functors/elementary.hpp"
#include "kernels/rows/axis_shape.hpp"
#include "kernels/rows/losses.hpp"
#include "sys/types.hpp"

#include <cmath>
#include <cstdint>

namespace tenon::functors {

// The places of the labels' logits in [outer, n, inner].
struct LabelPlaces {
  const std::int64_t* label;
  Index n, inner, firstClass;
  LabelPlaces(const AxisShape& shape, const std::int64_t* labels, Index first)
      : label(labels), n(shape.n), inner(shape.inner), firstClass(first) {}
  // -1 if the class of the label is not in this array.
  TENON_DEVICE Index of(Index line) const {
    const Index c = label[line] - firstClass;
    return c >= 0 && c < n ? (line / inner * n + c) * inner + line % inner : -1;
  }
};

// dz, the derivative by each logit, for cotangents dloss of the terms.
template <class T>
struct CrossEntropySlope {
  const T *z, *m, *s, *dloss;
  LabelPlaces places;
  T* dz;
  struct Line {
    const T* z;
    Index labelAt;
    T maximum, sum, dloss;
    TENON_DEVICE T read(Index at) const {
      const T slope = exponential(z[at] - maximum) * (dloss / sum);
      return dloss == T(0) ? T(0) : slope - (at == labelAt ? dloss : T(0));
    }
  };
  TENON_DEVICE Line line(Index line) const {
    return {z, places.of(line), m[line], s[line], dloss[line]};
  }
  TENON_DEVICE void write(Index at, T value) const { dz[at] = value; }
};

// p = the logit of the line's label, or 0 if its class is not in this array.
template <class T>
struct PickedLabel {
  const T* z;
  LabelPlaces places;
  T* p;
  TENON_DEVICE void operator()(Index line) const {
    const Index at = places.of(line);
    p[line] = at >= 0 ? z[at] : T(0);
  }
};

// w (log s + m - p) of a line.
template <class T>
struct LogLikelihood {
  using Wide = double;
  const T *m, *s, *p;
  ElementWeights<T> weights;
  TENON_DEVICE double operator()(Index, Index line) const {
    const double weight = weights.of(line);
    return weight == 0 ? 0
                       : weight * (std::log(double(s[line])) + double(m[line]) - double(p[line]));
  }
};

// to = scale w
template <class T>
struct ScaledWeight {
  ElementWeights<T> weights;
  double scale;
  T* to;
  TENON_DEVICE void operator()(Index line) const { to[line] = T(scale * weights.of(line)); }
};

// lines - i for line i if its label is not a class, else 0. The maximum over the lines then
// identifies the first one with such a label. A line of weight 0 needs no label.
template <class T>
struct BadLabel {
  using Wide = Index;
  const std::int64_t* label;
  ElementWeights<T> weights;
  Index lines, classes;
  TENON_DEVICE Index operator()(Index, Index line) const {
    const bool isBad = label[line] < 0 || label[line] >= classes;
    return isBad && weights.of(line) != 0 ? lines - line : 0;
  }
};

} // namespace tenon::functors
