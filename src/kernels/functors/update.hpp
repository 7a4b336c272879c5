// SPDX-License-Identifier: BSD-2-Clause
// One step of an optimizer for element i of the weights w and the gradients g; the formulas are in
// elementwise/update.hpp. For each i, on the host or the device, eachElement() (walks/each.hpp)
// calls f(i), or f.write(i, f.read(i)): with these two a thread of the device reads several
// elements before it writes them, which pays if a single array is written.
#pragma once

#include "sys/device_code.hpp"
#include "sys/types.hpp"

#include <cmath>

namespace tenon::functors {

// Gradient descent: w = w - rate (g + decay w).
template <class T>
struct PlainSgd {
  T rate, decay;
  const T* g;
  T* w;
  TENON_DEVICE T read(Index i) const { return w[i] - rate * (g[i] + decay * w[i]); }
  TENON_DEVICE void write(Index i, T value) const { w[i] = value; }
};

// Gradient descent with momentum, of Nesterov's kind if `nesterov` is set.
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

// The constants of step t: rate = lr / (1 - beta1^t), b1 = beta1 and b2 = beta2, c1 = 1 - b1 and
// c2 = 1 - b2, root = sqrt(1 - beta2^t), and factor = 1 - lr decay for a decoupled decay, else 1.
template <class T>
struct Adam {
  T rate, decay, factor, b1, c1, b2, c2, root, epsilon;
  const T* g;
  T *m, *v, *w;
  TENON_DEVICE void operator()(Index i) const {
    const T gradient = g[i] + decay * w[i];
    const T mean = b1 * m[i] + c1 * gradient, square = b2 * v[i] + c2 * gradient * gradient;
    m[i] = mean;
    v[i] = square;
    w[i] = factor * w[i] - rate * mean / (std::sqrt(square) / root + epsilon);
  }
};

} // namespace tenon::functors
