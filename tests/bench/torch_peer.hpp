// SPDX-License-Identifier: BSD-2-Clause
// For the benchmark convolution: the network of small_network.cpp as a TorchScript module, as codes
// that embed libtorch load it, on one thread and without gradients.
#pragma once

#include <functional>
#include <vector>

namespace tenon::bench {

// Row-major arrays of the caller: x [batch, first width], y [batch, last width], weights [out, in].
template <class T>
struct NetworkArrays {
  std::vector<int> widths;
  int batch;
  const T* x;
  std::vector<const T*> weights, biases;
  T* y;
};

template <class T>
std::function<void()> torchNetwork(const NetworkArrays<T>& arrays);

} // namespace tenon::bench
