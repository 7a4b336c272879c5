// SPDX-License-Identifier: BSD-2-Clause
// Kernels refuse without knowing for whom: here the layer's name is added.
#pragma once

#include "layer/layer.hpp"
#include "layer/local_kernel.hpp"
#include "sys/error.hpp"

namespace tenon {

template <class Make>
std::unique_ptr<LocalKernel> madeFor(const Layer& layer, Make&& make) {
  try {
    return make();
  } catch (const Error& error) {
    throw Error(error.code(), layer.title() + ": " + error.text(), error.where());
  }
}

} // namespace tenon
