// SPDX-License-Identifier: BSD-2-Clause
// Pooling of arrays in the memory of one process over the windows of convolution/window.hpp, plane
// by plane (a plane is one channel of one image): the maximum, or the mean, of the inputs that a
// window reads; with its adjoint (the gradient) and its tangent (the derivative in a direction).
// Padding is absent, not zero. Only AverageIncludePad counts padding: it divides by the number of
// elements of the window, also those on padding. A last window can extend beyond the padding, by
// rounding the number of outputs up; its elements from index padEnd on (WindowShape), where the
// padding ends, do not count. Layers create an object per shape by makePooling().
// Example of maxima over windows of 2 with stride 2:
//     x = 3 1 2 5  ->  y = 3 5,      and for this x the adjoint of dy = 7 8 is dx = 7 0 0 8.
#pragma once

#include "kernels/base/backend.hpp"
#include "kernels/base/context.hpp"
#include "kernels/convolution/window.hpp"

#include <memory>

namespace tenon {

// The maximum, or the mean with or without the padding in its number of elements.
enum class PoolingMode { Max, AverageIncludePad, AverageExcludePad };

// The local problem of a pooling kernel.
struct PoolingShape {
  Index planes; // batch times channels
  WindowShape window;
  PoolingMode mode;
};

// x is [planes, in...], y is [planes, out...], contiguous and row-major.
template <class T>
class Pooling {
public:
  virtual ~Pooling() = default;
  // Bytes of the workspace in which forward() saves data for derivatives; 0 for averages.
  virtual Index workspaceBytes() const = 0;
  // A maximum is the first in the row-major order of the window; NaN propagates. The workspace can
  // be null if derivatives are not needed.
  virtual void forward(const T* x, T* y, void* workspace) = 0;
  // dx is overwritten, with zeros for inputs that no window reads.
  virtual void adjoint(const T* dy, const void* workspace, T* dx) = 0;
  // dy = the derivative in the direction dx.
  virtual void tangent(const T* dx, const void* workspace, T* dy) = 0;
  // The backend in use: never Auto. If oneDNN was requested but does not support the case (maxima,
  // cropped or dilated windows, empty shapes), it is Blas, which for pooling means Tenon's own
  // loops.
  virtual Backend backend() const = 0;
};

// Throws TENON_ERR_ARG for a malformed shape, and for Max and AverageExcludePad if a window reads
// no input.
template <class T>
std::unique_ptr<Pooling<T>> makePooling(const PoolingShape& shape, Backend backend,
                                        KernelContextPtr context = nullptr);

// The images [batch, channels, in...] of a pooling.
struct ImageWindows {
  Index batch, channels;
  WindowShape window;
};
// y = the maxima, on dense images of the host whose channels are last in memory. A plane of such an
// image is not contiguous, so Pooling cannot read it; this loop compares all channels of two inputs
// at once. Each window must read an input.
template <class T>
void maximaChannelsLast(KernelContext& context, const ImageWindows& images, const T* x, T* y);

} // namespace tenon
