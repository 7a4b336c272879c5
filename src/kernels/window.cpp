// SPDX-License-Identifier: BSD-2-Clause
#include "kernels/window.hpp"

#include "sys/error.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

void checkAtLeast(const char* what, Index value, Index least, int d) {
  if (value < least)
    throw Error(TENON_ERR_ARG, fmt::format("the {} in spatial dimension {} is {}; it must be >= {}",
                                           what, d, value, least));
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

} // namespace tenon
