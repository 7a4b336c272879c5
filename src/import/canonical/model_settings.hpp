// SPDX-License-Identifier: BSD-2-Clause
// Settings of some methods of ModelBuilder: of windows that slide over a field, and of how to
// compute a field between its elements; and bounds of what it computes.
#pragma once

#include "sys/types.hpp"

#include <vector>

namespace tenon {

// Bound on all computed constants together.
inline constexpr Index kMaxModelNumbers = Index(1) << 24;
inline constexpr Index kMaxModelWindow = Index(1) << 24; // kernel, stride, dilation, padding, step

// Settings of sliding windows, one number per spatial dimension.
struct ModelWindows {
  std::vector<Index> kernel, stride, dilation, low, high, outputPadding = {};
  Index groups = 1;
  bool isTransposed = false;
};

// How to weigh the elements near a place: linearly or by Keys' cubic. spread < 1 averages over
// 1 / spread times as many elements.
struct ModelInterpolation {
  bool isCubic = false;
  double cubicFactor = -0.75, spread = 1;
  bool excludesOutside = false; // otherwise elements beyond an end equal the last one
};

// How to compute a field at points, which can be outside of it.
struct ModelSampling {
  enum class Method { Nearest, Linear, Cubic } method = Method::Linear;
  enum class Outside { Zeros, Border, Reflection } outside = Outside::Zeros;
  bool alignsCorners = false;
};

} // namespace tenon
