// SPDX-License-Identifier: BSD-2-Clause
// The geometry of a sliding window (convolution, pooling) along one dimension: output o reads the
// inputs o*stride - padLow + t*dilation for t = 0 ... kernel-1.
//
// The padding says how far windows may leave the domain on either side; negative, how much of the
// domain they leave out. The boundary mode of a side says what is there: with None it is padding of
// the kernel (zero, or absent), with another mode the extension of the domain, which ends where the
// padding ends.
#pragma once

#include "geometry/layout/boundary.hpp"

#include <algorithm>

namespace tenon {

struct Window {
  Index kernel = 1;
  Index stride = 1;
  Index dilation = 1;
  Index padLow = 0;
  Index padHigh = 0;
  bool ceil = false; // a last window can reach beyond the padding, but not begin there
  Boundary lowMode = Boundary::None;
  Boundary highMode = Boundary::None;
  std::vector<ModeBand> bands = {}; // as in a halo: the modes by channel where they differ

  Index reach() const {
    return checkedSum(checkedProduct(dilation, kernel - 1, "the reach of a window"), 1,
                      "the reach of a window");
  }
  bool operator==(const Window&) const = default;
};

// Of some dimension; those in which patches are linked have one mode for all channels.
inline bool haveModesByChannel(const std::vector<Window>& windows) {
  return std::ranges::any_of(windows, [](const Window& window) { return !window.bands.empty(); });
}

// Throws TENON_ERR_ARG naming the value that is out of range, TENON_ERR_SHAPE if no output fits.
Index windowOutput(const Window& window, Index extent, int dim);

// The inputs that a range of outputs reads; they can leave the domain.
Interval windowInput(const Window& window, Interval outputs);

// The part of windowInput() that exists in the domain or its extension: [0, 0) if there is none.
Interval windowBox(const Window& window, Index extent, Interval outputs);

// The outputs of a part that read nothing but its own inputs; an empty interval where they would
// begin if there are none.
Interval interiorOutputs(const Window& window, Index extent, Interval owned, Interval outputs);

// The window whose padding reaches as far as outputs beyond the `extent` that there are, which a
// periodic dimension has.
Window continued(Window window, Interval outputs, Index extent);

// Cuts of the output that follow the input's: an output belongs to the part that owns the input at
// the centre of its window.
std::vector<Index> windowCuts(const Window& window, const std::vector<Index>& inputCuts,
                              Index outputs);

} // namespace tenon
