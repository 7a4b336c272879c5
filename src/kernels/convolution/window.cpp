// SPDX-License-Identifier: BSD-2-Clause
// Checks of windows, and an InputStage: a copy of the input with explicit padding, for oneDNN,
// whose weight adjoint is wrong for some paddings (needsStage() in onednn.cpp). All code has three
// spatial dimensions: a window with fewer is embedded, which adds leading dimensions of extent 1
// and changes no offset.
#include "kernels/convolution/window.hpp"

#include "kernels/base/parallel.hpp"
#include "kernels/movement/block_copy.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

void checkAtLeast(const char* what, Index value, Index minimum, int d) {
  if (value < minimum)
    throw Error(TENON_ERR_ARG, fmt::format("the {} in spatial dimension {} is {}; it must be >= {}",
                                           what, d, value, minimum));
}

Index product(const std::array<Index, kMaxSpatial>& extents, int rank) {
  Index volume = 1;
  for (int d = 0; d < rank; ++d)
    volume *= extents[d];
  return volume;
}

} // namespace

void checkWindow(const WindowShape& window) {
  if (window.rank < 1 || window.rank > kMaxSpatial)
    throw Error(TENON_ERR_ARG,
                fmt::format("the window has {} spatial dimensions; it must have 1 to {}",
                            window.rank, kMaxSpatial));
  for (int d = 0; d < window.rank; ++d) {
    checkAtLeast("the input extent", window.in[d], 0, d);
    checkAtLeast("the output extent", window.out[d], 0, d);
    checkAtLeast("the kernel extent", window.kernel[d], 1, d);
    checkAtLeast("the stride", window.stride[d], 1, d);
    checkAtLeast("the dilation", window.dilation[d], 1, d);
  }
}

WindowShape embedWindow(const WindowShape& window) {
  WindowShape embedded;
  for (int d = 0; d < window.rank; ++d) {
    const int e = d + kMaxSpatial - window.rank;
    embedded.in[e] = window.in[d];
    embedded.out[e] = window.out[d];
    embedded.kernel[e] = window.kernel[d];
    embedded.stride[e] = window.stride[d];
    embedded.dilation[e] = window.dilation[d];
    embedded.padLow[e] = window.padLow[d];
    embedded.padEnd[e] = window.padEnd[d];
  }
  return embedded;
}

Index inputVolume(const WindowShape& window) {
  return product(window.in, window.rank);
}
Index outputVolume(const WindowShape& window) {
  return product(window.out, window.rank);
}
Index kernelVolume(const WindowShape& window) {
  return product(window.kernel, window.rank);
}

Index effectiveKernel(const WindowShape& w, int d) {
  return (w.kernel[d] - 1) * w.dilation[d] + 1;
}

Index padHigh(const WindowShape& w, int d) {
  return (w.out[d] - 1) * w.stride[d] + effectiveKernel(w, d) - w.in[d] - w.padLow[d];
}

// The staged array begins with the first tap of the first output and ends with the last tap of the
// last one, so its window has no padding. The elements that it shares with x are a box in both
// arrays.
template <class T>
InputStage<T>::InputStage(Index planes, const WindowShape& window)
    : planes_(planes), staged_(window), inVolume_(inputVolume(window)) {
  for (int d = 0; d < window.rank; ++d) {
    staged_.in[d] = (window.out[d] - 1) * window.stride[d] + effectiveKernel(window, d);
    staged_.padLow[d] = 0;
  }
  const WindowShape original = embedWindow(window), padded = embedWindow(staged_);
  Index volumeX = 1, volumeStaged = 1;
  for (int d = kMaxSpatial - 1; d >= 0; --d) {
    // The indices of the staged array that x has too.
    const Index begin = std::max<Index>(0, original.padLow[d]);
    const Index end = std::min(padded.in[d], original.in[d] + original.padLow[d]);
    extent_[d + 1] = std::max<Index>(0, end - begin);
    strideX_[d + 1] = volumeX;
    strideStaged_[d + 1] = volumeStaged;
    offsetX_ += (begin - original.padLow[d]) * volumeX;
    offsetStaged_ += begin * volumeStaged;
    volumeX *= original.in[d];
    volumeStaged *= padded.in[d];
  }
  extent_[0] = planes;
  strideX_[0] = volumeX;
  strideStaged_[0] = volumeStaged;
  // If the two arrays have no common element, the offsets could be outside the arrays, and adding
  // them to an address would be undefined behaviour.
  if (std::find(extent_.begin(), extent_.end(), 0) != extent_.end())
    offsetX_ = offsetStaged_ = 0;
}

template <class T>
void InputStage<T>::stage(KernelContext& context, const T* x, T* staged) const {
  parallelFill(context.threads(), volume(), T(0), staged);
  blockCombine(context, Combine::Copy, kMaxSpatial + 1, extent_.data(), x + offsetX_,
               strideX_.data(), staged + offsetStaged_, strideStaged_.data());
}

template <class T>
void InputStage<T>::unstage(KernelContext& context, const T* staged, T* x) const {
  parallelFill(context.threads(), planes_ * inVolume_, T(0), x);
  blockCombine(context, Combine::Copy, kMaxSpatial + 1, extent_.data(), staged + offsetStaged_,
               strideStaged_.data(), x + offsetX_, strideX_.data());
}

template class InputStage<float>;
template class InputStage<double>;

} // namespace tenon
