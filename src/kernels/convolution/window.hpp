// SPDX-License-Identifier: BSD-2-Clause
// The sliding window shared by convolution and pooling. Along each spatial dimension, tap t
// (element t of the kernel) for output o reads the input
//     i = o stride - padLow + t dilation,
// and i outside [0, in) is padding. Example with 3 taps, stride 2, dilation 1 and padLow 1, on 5
// inputs and 3 outputs:
//     input       -1  0  1  2  3  4  5       -1 and 5 are padding
//     output 0     x  x  x
//     output 1           x  x  x
//     output 2                 x  x  x
// padLow < 0 skips leading input. The padding at the upper end follows from `out`; if it is
// negative, trailing input is not read. Taps with i >= padEnd are beyond the padding that a mean
// counts.
//
// A window has 1 to 3 dimensions. Functions that take an embedded window require 3 (embedWindow()).
// The header has the ranges of taps, outputs and inputs that read each other, loops over outputs
// and over the inputs that an output reads, and InputStage, a copy of the input with explicit
// padding.
#pragma once

#include "kernels/base/context.hpp"
#include "sys/types.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace tenon {

// padEnd if every padding counts; a quarter of the maximum, since sums with it must not overflow.
constexpr Index kNoEnd = std::numeric_limits<Index>::max() / 4;

// The local geometry of sliding windows in up to 3 dimensions.
struct WindowShape {
  int rank = kMaxSpatial;
  std::array<Index, kMaxSpatial> in{1, 1, 1};  // local input extents, as stored
  std::array<Index, kMaxSpatial> out{1, 1, 1}; // local output extents
  std::array<Index, kMaxSpatial> kernel{1, 1, 1};
  std::array<Index, kMaxSpatial> stride{1, 1, 1};
  std::array<Index, kMaxSpatial> dilation{1, 1, 1};
  std::array<Index, kMaxSpatial> padLow{0, 0, 0}; // padding before the input; < 0 skips input
  // Index of the first input after all padding that the mean of a pooling window counts.
  std::array<Index, kMaxSpatial> padEnd{kNoEnd, kNoEnd, kNoEnd};
};

// Throws TENON_ERR_ARG unless the rank is 1..3, extents are >= 0, and kernel, stride and dilation
// are >= 1.
void checkWindow(const WindowShape& window);

// The same window with three spatial dimensions, the leading ones of extent 1: arrays are
// unchanged.
WindowShape embedWindow(const WindowShape& window);

// Numbers of inputs and outputs of one channel, and of taps.
Index inputVolume(const WindowShape& window);
Index outputVolume(const WindowShape& window);
Index kernelVolume(const WindowShape& window);

// Consecutive indices, in local numbering.
struct Range {
  Index begin, end; // empty if end <= begin
};

// Rounds up, also for negative a. Requires b > 0.
constexpr Index ceilDivide(Index a, Index b) {
  return a / b + (a % b > 0 ? 1 : 0);
}

// The taps of output o along dimension d that read input instead of padding.
inline Range tapsInside(const WindowShape& w, int d, Index o) {
  const Index first = o * w.stride[d] - w.padLow[d];
  return {std::max<Index>(0, ceilDivide(-first, w.dilation[d])),
          std::min(w.kernel[d], ceilDivide(w.in[d] - first, w.dilation[d]))};
}

// Number of taps of output o along dimension d before padEnd.
inline Index tapsBeforeEnd(const WindowShape& w, int d, Index o) {
  const Index first = o * w.stride[d] - w.padLow[d];
  return std::clamp<Index>(ceilDivide(w.padEnd[d] - first, w.dilation[d]), 0, w.kernel[d]);
}

// The outputs along dimension d whose tap t reads input instead of padding.
inline Range outputsInside(const WindowShape& w, int d, Index t) {
  const Index shift = w.padLow[d] - t * w.dilation[d];
  return {std::max<Index>(0, ceilDivide(shift, w.stride[d])),
          std::min(w.out[d], ceilDivide(w.in[d] + shift, w.stride[d]))};
}

// The outputs along dimension d whose span, from the first tap to the last, contains stored input,
// whether a tap reads it or not. Empty if there is no such output.
inline Range outputsReaching(const WindowShape& w, int d) {
  if (w.in[d] == 0)
    return {0, 0};
  const Index reach = (w.kernel[d] - 1) * w.dilation[d] + 1;
  return {std::max<Index>(0, ceilDivide(w.padLow[d] - reach + 1, w.stride[d])),
          std::min(w.out[d], ceilDivide(w.in[d] + w.padLow[d], w.stride[d]))};
}

// The stored inputs from the first tap of the first of these outputs to the last tap of the last.
// Empty for an empty range of outputs.
inline Range inputsReached(const WindowShape& w, int d, const Range& outputs) {
  if (outputs.end <= outputs.begin)
    return {0, 0};
  const Index first = outputs.begin * w.stride[d] - w.padLow[d];
  const Index last =
      (outputs.end - 1) * w.stride[d] - w.padLow[d] + (w.kernel[d] - 1) * w.dilation[d];
  return {std::max<Index>(0, first), std::min(w.in[d], last + 1)};
}

// Index of an output, an input or a tap in the three dimensions of an embedded window.
using Position = std::array<Index, kMaxSpatial>;

// Calls visit(output position, row-major index of the output) for every output of an embedded
// window.
template <class Visit>
void forEachOutput(const WindowShape& w, Visit visit) {
  Index flat = 0;
  Position o;
  for (o[0] = 0; o[0] < w.out[0]; ++o[0])
    for (o[1] = 0; o[1] < w.out[1]; ++o[1])
      for (o[2] = 0; o[2] < w.out[2]; ++o[2])
        visit(o, flat++);
}

// Calls visit(index of the tap, index of the input), row-major, for every tap of output o of an
// embedded window that reads input.
template <class Visit>
void forEachRead(const WindowShape& w, const Position& o, Visit visit) {
  const Range r0 = tapsInside(w, 0, o[0]), r1 = tapsInside(w, 1, o[1]), r2 = tapsInside(w, 2, o[2]);
  for (Index t0 = r0.begin; t0 < r0.end; ++t0)
    for (Index t1 = r1.begin; t1 < r1.end; ++t1)
      for (Index t2 = r2.begin; t2 < r2.end; ++t2) {
        const Index i0 = o[0] * w.stride[0] - w.padLow[0] + t0 * w.dilation[0];
        const Index i1 = o[1] * w.stride[1] - w.padLow[1] + t1 * w.dilation[1];
        const Index i2 = o[2] * w.stride[2] - w.padLow[2] + t2 * w.dilation[2];
        visit((t0 * w.kernel[1] + t1) * w.kernel[2] + t2, (i0 * w.in[1] + i1) * w.in[2] + i2);
      }
}

// Padding at the upper end of dimension d; negative if trailing input is not read.
Index padHigh(const WindowShape& window, int d);
Index effectiveKernel(const WindowShape& window, int d); // (kernel - 1) dilation + 1

// A copy of the input, cropped and padded to exactly the extents that the windows span. A library
// that does not support the window's padding can compute on the copy without padding:
//     staged[plane, j] = x[plane, j - padLow],  or 0 outside x.
template <class T>
class InputStage {
public:
  // A plane is one channel of one image. The window must have at least one output.
  InputStage(Index planes, const WindowShape& window);

  // The window on the staged array, without padding.
  const WindowShape& window() const { return staged_; }
  // Number of elements of the staged array.
  Index volume() const { return planes_ * inputVolume(staged_); }
  void stage(KernelContext& context, const T* x, T* staged) const;
  // The transpose: x is overwritten, with zeros for elements that the staged array lacks.
  void unstage(KernelContext& context, const T* staged, T* x) const;

private:
  Index planes_;
  WindowShape staged_;
  Index inVolume_;
  // The box that the two arrays have in common: planes and three spatial dimensions.
  std::array<Index, kMaxSpatial + 1> extent_, strideX_, strideStaged_;
  Index offsetX_ = 0, offsetStaged_ = 0;
};

} // namespace tenon
