// SPDX-License-Identifier: BSD-2-Clause
// The geometry of a sliding window (convolution, pooling) along one dimension: output o reads the
// inputs o*stride - padLow + t*dilation for t = 0 ... kernel-1.
//
// The padding is the distance by which windows can extend beyond the domain on each side, or, if
// negative, the part of the domain that they omit. The boundary mode of a side defines the values
// there: None means padding of the kernel (zero, or absent), another mode means the extension of
// the domain, which ends where the padding ends.
//
// For example, extent 8, kernel 3, stride 2 and padding 1 on both sides give 4 outputs, and output
// o reads the inputs 2o - 1 to 2o + 1. On two ranks the input cuts 0, 4, 8 become the output cuts
// 0, 2, 4. The outputs [2, 4) read the inputs [3, 8), so rank 1 needs input 3 of rank 0 as a halo.
#pragma once

#include "geometry/layout/boundary.hpp"

#include <algorithm>

namespace tenon {

// A window along one dimension, with the boundary modes of its sides.
struct Window {
  Index kernel = 1;
  Index stride = 1;
  Index dilation = 1;
  Index padLow = 0;
  Index padHigh = 0;
  // Rounding of the number of outputs: true if a last window can extend beyond the padding. It
  // cannot begin there.
  bool ceil = false;
  Boundary lowMode = Boundary::None;
  Boundary highMode = Boundary::None;
  std::vector<ModeBand> bands = {}; // Modes by channel if they differ, as in Halo.
  int longitudes = -1;              // With a pole mode, the spatial dimension of the longitudes.

  // Number of inputs from the first to the last that an output reads.
  Index reach() const {
    return checkedSum(checkedProduct(dilation, kernel - 1, "the reach of a window"), 1,
                      "the reach of a window");
  }
  bool operator==(const Window&) const = default;
};

// True if the modes of some dimension differ by channel. Dimensions with linked halos have one
// mode.
inline bool haveModesByChannel(const std::vector<Window>& windows) {
  return std::ranges::any_of(windows, [](const Window& window) { return !window.bands.empty(); });
}

// Number of outputs. Throws TENON_ERR_ARG with the value that is out of range, and TENON_ERR_SHAPE
// if there is no output.
Index windowOutput(const Window& window, Index extent, int dim);

// The inputs that a range of outputs reads, possibly outside the domain.
Interval windowInput(const Window& window, Interval outputs);

// The part of windowInput() that is in the domain or its extension; [0, 0) if empty.
Interval windowBox(const Window& window, Index extent, Interval outputs);

// The outputs of a part that read only its own inputs; if there are none, an empty interval at the
// place where they would begin.
Interval interiorOutputs(const Window& window, Index extent, Interval owned, Interval outputs);

// The window with its high padding enlarged by what `outputs` read beyond it. In a periodic
// dimension these can continue after the `regular` outputs of windowOutput(), one stride each.
Window withHighPaddingFor(Window window, Interval outputs, Index regular);

// Output cuts that follow the input cuts: an output belongs to the part that owns the input at the
// centre of its window.
std::vector<Index> windowCuts(const Window& window, const std::vector<Index>& inputCuts,
                              Index outputs);

} // namespace tenon
