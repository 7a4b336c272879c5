// SPDX-License-Identifier: BSD-2-Clause
// Functors for the terms of rows/losses.hpp (x: input, t: target, w: weight, d = x - t). Each
// returns the value of one term, for a sum (functors/reduce.hpp explains Wide and the two indices:
// group, and term of the group). A functor with a gradient array g also writes the term's
// contribution to the gradient with respect to x.
#pragma once

#include "kernels/rows/losses.hpp"
#include "kernels/walks/element_offsets.hpp"

#include <cmath>
#include <limits>

namespace tenon::functors {

// A term l(d) and its derivative l'(d).
struct ValueAndSlope {
  double value, slope;
};
struct SquaredTerm {
  TENON_DEVICE ValueAndSlope termOf(double d) const { return {d * d, 2 * d}; }
};
struct AbsoluteTerm {
  TENON_DEVICE ValueAndSlope termOf(double d) const {
    return {std::abs(d), d > 0 ? 1.0 : d < 0 ? -1.0 : d}; // NaN propagates
  }
};
// d^2 / 2 for |d| < delta, and delta (|d| - delta / 2) beyond it.
struct HuberTerm {
  double delta;
  TENON_DEVICE ValueAndSlope termOf(double d) const {
    const double size = std::abs(d), inside = size < delta ? size : delta;
    return {inside * (size - inside / 2), d > delta ? delta : d < -delta ? -delta : d};
  }
};

// A weight of 0 excludes a term for any input and target: fields often have NaN where they have no
// values.
TENON_DEVICE inline double differenceOf(double weight, double x, double t) {
  return weight == 0 ? 0 : x - t;
}

// w l(x - t), and g = scale w l'(x - t), where ErrorTermOf is one of the three structures above. g
// can be null.
template <class ErrorTermOf, class T, class U>
struct WeightedError : ErrorTermOf {
  using Wide = double;
  const T* x;
  const U* t;
  ElementWeights<T> weights;
  double scale;
  T* g;
  TENON_DEVICE double operator()(Index, Index i) const {
    const double w = weights.of(i);
    const ValueAndSlope l = this->termOf(differenceOf(w, double(x[i]), double(t[i])));
    if (g)
      g[i] = T(scale * w * l.slope);
    return w * l.value;
  }
};

// The term of an ensemble (formula at Ensemble, rows/losses.hpp) for element i of the target. Pairs
// of members are compared one by one, which needs neither sorting nor memory. `pairs` counts each
// pair twice and is halved at the end; the derivative of this half by x_k is the sum of the slopes
// of |x_k - x_l| over l.
template <class T, class U>
struct EnsembleTerm {
  using Wide = double;
  Ensemble ensemble;
  const T* x;
  const U* t;
  ElementWeights<T> weights;
  double scale;
  T* g;
  TENON_DEVICE double operator()(Index, Index i) const {
    const Index members = ensemble.members, step = ensemble.inner,
                first = i / step * members * step + i % step;
    const double w = weights.of(i), each = 1 / double(members);
    double errors = 0, pairs = 0; // sums of |x_k - t|, and of |x_k - x_l| over k and l
    for (Index k = 0; k < members; ++k) {
      const Index at = first + k * step;
      const ValueAndSlope error =
          AbsoluteTerm{}.termOf(differenceOf(w, double(x[at]), double(t[i])));
      double slopes = 0;
      for (Index l = 0; l < members; ++l) {
        const ValueAndSlope pair =
            AbsoluteTerm{}.termOf(differenceOf(w, double(x[at]), double(x[first + l * step])));
        pairs += pair.value;
        slopes += pair.slope;
      }
      errors += error.value;
      if (g)
        g[at] = T(scale * w * (each * error.slope - ensemble.pairFactor * slopes));
    }
    return w * (each * errors - ensemble.pairFactor * pairs / 2);
  }
};

// n - i for a weight that is negative or not finite, else 0: the maximum over all elements is that
// of the first such weight.
template <class T>
struct BadWeight {
  using Wide = Index;
  const T* weights;
  Index n;
  TENON_DEVICE Index operator()(Index, Index i) const {
    return weights[i] >= T(0) && weights[i] <= std::numeric_limits<T>::max() ? 0 : n - i;
  }
};

template <class T>
TENON_DEVICE double weightAt(const T* weights, Index i) {
  return weights ? double(weights[i]) : 1.0;
}

// w (x - t)^2 and w t^2, per element c of the sample `row`.
template <class T, class U>
struct RowError {
  using Wide = double;
  const T* x;
  const U* t;
  ElementWeights<T> weights;
  Index cols;
  TENON_DEVICE double operator()(Index row, Index c) const {
    const Index i = row * cols + c;
    const double w = weights.of(i), d = differenceOf(w, double(x[i]), double(t[i]));
    return w * (d * d);
  }
};
template <class T, class U>
struct RowTarget {
  using Wide = double;
  const U* t;
  ElementWeights<T> weights;
  Index cols;
  TENON_DEVICE double operator()(Index row, Index c) const {
    const Index i = row * cols + c;
    const double w = weights.of(i), value = w == 0 ? 0 : double(t[i]);
    return w * (value * value);
  }
};

// The relative error per sample.
template <class T>
struct RelativeError {
  using Wide = double;
  const T *weights, *squaredErrors, *squaredTargets; // by sample: squared norms of x - t and of t
  double scale, epsilon;
  TENON_DEVICE bool isLeftOut(Index r) const { return weightAt(weights, r) == 0; }
  TENON_DEVICE double factor(Index r) const {
    return scale * weightAt(weights, r) / (std::sqrt(double(squaredTargets[r])) + epsilon);
  }
  TENON_DEVICE double operator()(Index, Index r) const {
    return isLeftOut(r) ? 0 : factor(r) * std::sqrt(double(squaredErrors[r]));
  }
  // The factor that is common to the derivatives with respect to all elements of a sample.
  TENON_DEVICE double slope(Index r) const {
    const double error = std::sqrt(double(squaredErrors[r]));
    return error == 0 || isLeftOut(r) ? 0 : factor(r) / error;
  }
};
// The slope of each sample, stored for RelativeGradient.
template <class T>
struct RelativeSlopes {
  RelativeError<T> error;
  double* slopes;
  TENON_DEVICE void operator()(Index r) const { slopes[r] = error.slope(r); }
};
// The derivative of the relative error with respect to element i of sample r.
template <class T, class U>
struct RelativeGradient {
  const double* slopes; // one per sample
  const T* x;
  const U* t;
  ElementWeights<T> weights;
  const T* rowWeights;
  T* g;
  TENON_DEVICE T at(Index i, Index r, double slope) const {
    const double w = weightAt(rowWeights, r) == 0 ? 0 : weights.of(i);
    return T(slope * w * differenceOf(w, double(x[i]), double(t[i])));
  }
  TENON_DEVICE T read(Index i, Index r) const { return at(i, r, slopes[r]); }
  TENON_DEVICE void write(Index i, T value) const { g[i] = value; }
};

// Squares of the differences between an element and its next neighbours, per element of a box. The
// gradient of an element is gathered from the differences of which it is the low end and the high
// end, so no two threads add to one element. The array has `extent` elements, of which this rank
// owns the first `owned` along each dimension; the others are halo, the high ends of its last
// differences. In one dimension, with the owned elements 0 ... n-1 and the halo element n,
// difference k is x[k+1] - x[k] and belongs to element k. Differences are taken along the
// dimensions from firstDim on; the dimensions before it are the batch and the channels.
template <class T, class U>
struct DifferenceTerm {
  using Wide = double;
  Index ndim, firstDim;
  Divisor perExtent[kMaxBlockRank];
  Index extent[kMaxBlockRank], owned[kMaxBlockRank];
  Index step[kMaxBlockRank], ownedStep[kMaxBlockRank]; // strides of x, and of the owned elements
  double inverse[kMaxBlockRank];                       // 1 / spacing
  const T* x;
  const U* t;
  ElementWeights<T> weights;
  double scale;
  T* g;

  TENON_DEVICE double error(Index i) const { return double(x[i]) - (t ? double(t[i]) : 0.0); }
  TENON_DEVICE double slope(Index low, Index d) const {
    return (error(low + step[d]) - error(low)) * inverse[d];
  }
  TENON_DEVICE double operator()(Index, Index element) const {
    Index at[kMaxBlockRank];
    auto rest = static_cast<std::uint32_t>(element);
    Index dimsInHalo = 0, ownedAt = 0;
    for (Index d = ndim - 1; d >= 0; --d) {
      at[d] = perExtent[d].divide(rest);
      dimsInHalo += at[d] >= owned[d];
      ownedAt += at[d] * ownedStep[d];
    }
    double value = 0, gradient = 0;
    for (Index d = firstDim; d < ndim; ++d) {
      // The element as the low end of a difference along d: it is owned.
      if (dimsInHalo == 0 && at[d] + 1 < extent[d]) {
        const double w = weights.of(ownedAt), each = w == 0 ? 0 : slope(element, d);
        value += w * each * each;
        gradient -= 2 * scale * w * each * inverse[d];
      }
      // As the high end: the low end, at[d] - 1, is owned. So the element is owned, or it is the
      // first halo element along d and owned along all other dimensions.
      if (at[d] > 0 && at[d] <= owned[d] && dimsInHalo == Index(at[d] == owned[d])) {
        const double w = weights.of(ownedAt - ownedStep[d]);
        const double each = w == 0 ? 0 : slope(element - step[d], d);
        gradient += 2 * scale * w * each * inverse[d];
      }
    }
    if (g)
      g[element] = T(gradient);
    return value;
  }
};

} // namespace tenon::functors
