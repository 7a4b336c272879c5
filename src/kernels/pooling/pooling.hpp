// SPDX-License-Identifier: BSD-2-Clause
// Pooling over the windows of convolution/window.hpp, plane by plane (a plane is one channel of one
// image): the maximum, or the mean, of the input that a window reads. Padding is absent, not zero;
// only AverageIncludePad counts it, dividing by the number of taps before padEnd: the kernel's
// volume, except where a last window reaches beyond the padding.
#pragma once

#include "kernels/base/backend.hpp"
#include "kernels/base/context.hpp"
#include "kernels/convolution/window.hpp"

#include <memory>

namespace tenon {

enum class PoolingMode { Max, AverageIncludePad, AverageExcludePad };

struct PoolingShape {
  Index planes; // batch times channels
  WindowShape window;
  PoolingMode mode;
};

// x is [planes, in...], y [planes, out...], contiguous and row-major.
template <class T>
class Pooling {
public:
  virtual ~Pooling() = default;
  // The size of what forward leaves for derivatives; 0 for averages.
  virtual Index workspaceBytes() const = 0;
  // The maximum is the first in row-major order of the window; NaN propagates. The workspace may be
  // null where no derivative will follow.
  virtual void forward(const T* x, T* y, void* workspace) = 0;
  // dx is overwritten, with zeros where no window reads.
  virtual void adjoint(const T* dy, const void* workspace, T* dx) = 0;
  // The derivative in the direction dx.
  virtual void tangent(const T* dx, const void* workspace, T* dy) = 0;
  // The backend that computes: never Auto, and Blas (own loops) where oneDNN was requested but
  // means something else (maxima, cropped or dilated windows, empty shapes).
  virtual Backend backend() const = 0;
};

// TENON_ERR_ARG for a malformed shape, and for Max and AverageExcludePad if a window reads nothing.
template <class T>
std::unique_ptr<Pooling<T>> makePooling(const PoolingShape& shape, Backend backend,
                                        KernelContextPtr context = nullptr);

} // namespace tenon
