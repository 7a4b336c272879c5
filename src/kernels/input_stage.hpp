// SPDX-License-Identifier: BSD-2-Clause
// A copy of the input cut and padded to exactly the extents that the windows span, so that a
// library that does not know some padding can compute on it without any:
//     staged[plane, j] = x[plane, j - padLow],  0 where that is outside.
#pragma once

#include "kernels/context.hpp"
#include "kernels/window.hpp"

namespace tenon {

// Padding at the upper end of dimension d: negative where input stays unread.
Index padHigh(const WindowShape& window, int d);
Index effectiveKernel(const WindowShape& window, int d); // (kernel - 1) dilation + 1

template <class T>
class InputStage {
public:
  InputStage(Index planes, const WindowShape& window);

  // The window over the staged array.
  const WindowShape& window() const { return staged_; }
  // Elements of the staged array.
  Index volume() const { return planes_ * inputVolume(staged_); }
  void stage(KernelContext& context, const T* x, T* staged) const;
  // The transpose: x is overwritten, with zeros where the staged array has no such element.
  void unstage(KernelContext& context, const T* staged, T* x) const;

private:
  Index planes_;
  WindowShape staged_;
  Index inVolume_;
  // The common part of the two arrays: planes and three spatial dimensions.
  std::array<Index, kMaxSpatial + 1> extent_, strideX_, strideStaged_;
  Index offsetX_ = 0, offsetStaged_ = 0;
};

} // namespace tenon
