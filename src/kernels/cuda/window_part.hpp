// SPDX-License-Identifier: BSD-2-Clause
// The part of a convolution's window that convolution_cudnn.cpp passes to cuDNN: the outputs that
// read stored input, and the inputs that these read. For example, of a window of 3 with padding 4
// on 5 inputs only 7 of 11 outputs read any. Also the description of arrays for its graphs.
#pragma once

#include "kernels/convolution/backends.hpp"
#include "kernels/cuda/dnn_graph.hpp"

#include <algorithm>

namespace tenon {

// The part of the window that is passed to the library.
struct WindowPart {
  Range in[kMaxSpatial], out[kMaxSpatial];
  Index padLow[kMaxSpatial], padHigh[kMaxSpatial];
  bool reads = true;     // whether any input is read
  bool hasAllIn = true;  // whether every input is in `in`
  bool hasAllOut = true; // whether every output is in `out`
};

inline WindowPart partOf(const WindowShape& w) {
  WindowPart part;
  for (int d = 0; d < kMaxSpatial; ++d) {
    const Range out = outputsReaching(w, d), in = inputsReached(w, d, out);
    const Index first = out.begin * w.stride[d] - w.padLow[d];
    const Index end =
        (out.end - 1) * w.stride[d] - w.padLow[d] + (w.kernel[d] - 1) * w.dilation[d] + 1;
    part.out[d] = out;
    part.in[d] = in;
    part.padLow[d] = std::max<Index>(0, -first);
    part.padHigh[d] = std::max<Index>(0, end - w.in[d]);
    part.reads = part.reads && out.end > out.begin && in.end > in.begin;
    part.hasAllIn = part.hasAllIn && in.begin == 0 && in.end == w.in[d];
    part.hasAllOut = part.hasAllOut && out.begin == 0 && out.end == w.out[d];
  }
  return part;
}

// Description of an array [a, b, space...] without its first `front` spatial dimensions (extent 1).
inline cuda::ArrayBox arrayBox(Index a, Index b, const Index* space, const ImageStrides& strides,
                               int front) {
  cuda::ArrayBox box{{a, b}, {strides.batch, strides.channel}};
  for (int d = front; d < kMaxSpatial; ++d) {
    box.extent.push_back(space[d]);
    box.strides.push_back(strides.space[d]);
  }
  // The stride of a dimension with one element is arbitrary, but the library has faster engines for
  // dense arrays.
  for (std::size_t d = box.extent.size(); d-- > 2;)
    if (box.extent[d] == 1)
      box.strides[d] = d + 1 < box.extent.size() ? box.strides[d + 1] * box.extent[d + 1] : 1;
  return box;
}

} // namespace tenon
