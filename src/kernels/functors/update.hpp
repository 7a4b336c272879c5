// SPDX-License-Identifier: BSD-2-Clause
// One step of an optimizer for element i; see elementwise/update.hpp.
#pragma once

#include "sys/device_code.hpp"
#include "sys/types.hpp"

#include <cmath>

namespace tenon::functors {

template <class T>
struct PlainSgd {
  T rate, decay;
  const T* g;
  T* w;
  TENON_DEVICE T read(Index i) const { return w[i] - rate * (g[i] + decay * w[i]); }
  TENON_DEVICE void write(Index i, T value) const { w[i] = value; }
};

template <class T>
struct MomentumSgd {
  T rate, decay, momentum;
  bool nesterov;
  const T* g;
  T *velocity, *w;
  TENON_DEVICE void operator()(Index i) const {
    const T gradient = g[i] + decay * w[i], v = momentum * velocity[i] + gradient;
    velocity[i] = v;
    w[i] -= rate * (nesterov ? gradient + momentum * v : v);
  }
};

template <class T>
struct Adam {
  T rate, decay, kept, b1, c1, b2, c2, root, epsilon; // c = 1 - b, root = sqrt(1 - b2^t)
  const T* g;
  T *m, *v, *w;
  TENON_DEVICE void operator()(Index i) const {
    const T gradient = g[i] + decay * w[i];
    const T mean = b1 * m[i] + c1 * gradient, square = b2 * v[i] + c2 * gradient * gradient;
    m[i] = mean;
    v[i] = square;
    w[i] = kept * w[i] - rate * mean / (std::sqrt(square) / root + epsilon);
  }
};

} // namespace tenon::functors
