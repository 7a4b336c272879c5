// SPDX-License-Identifier: BSD-2-Clause
// Convolution in inference. Weights that are read again and again are converted once to the format
// of oneDNN's fastest kernels ("packed"), and again when they have changed. In training they change
// between any two calls, and a second copy would be wasted memory: Convolution::forward() converts
// them in each call.
//
// The kernels work on images whose channels are the last dimension in memory,
//
//   element (n, c, i) of [batch, channels, space]:   first    n * C * I + c * I + i
//                                                    last     n * C * I + i * C + c
//
// Images with channels first are copied to and from this order around the kernel.
#pragma once

#include "kernels/base/context.hpp"
#include "kernels/convolution/convolution.hpp"

namespace tenon {

enum class ChannelOrder { First, Last };

class PackedConvolution {
public:
  virtual ~PackedConvolution() = default;

  // w and b as for Convolution, b null for none. The states change with the values of w and b.
  // scale and shift have a number for each output channel; null: 1 and 0.
  struct Weights {
    const float *w, *b;
    std::array<std::uint64_t, 2> states;
    const float *scale = nullptr, *shift = nullptr;
  };
  // y = scale (w * x + b) + shift, on dense images. The scale is multiplied with the weights when
  // these are packed.
  virtual void forward(const Weights& weights, const float* x, ChannelOrder ofX, float* y,
                       ChannelOrder ofY) = 0;
  // The bytes of the packed weights.
  virtual Index bytes() const = 0;
  // oneDNN's name of the kernel.
  virtual const char* implementation() const = 0;
};

// Null where oneDNN has none: in a build without oneDNN, on a device, for an empty shape, and
// for windows that oneDNN does not support.
std::unique_ptr<PackedConvolution> makePackedConvolution(const ConvolutionShape& shape,
                                                         KernelContextPtr context);

} // namespace tenon
