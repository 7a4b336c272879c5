// SPDX-License-Identifier: BSD-2-Clause
// The arithmetic of sliding windows. The inputs of a range of outputs are one interval, even if
// stride and dilation skip some of it, because a halo is an interval too.
#include "geometry/layout/window.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

void checkAtLeast(const char* what, Index value, Index minimum, int dim) {
  if (value < minimum)
    throw Error(TENON_ERR_ARG,
                fmt::format("the {} of the window in spatial dimension {} is {}; it must be >= {}",
                            what, dim, value, minimum));
}

Index ceilDivide(Index a, Index b) {
  return a >= 0 ? a / b + (a % b != 0) : -(-a / b);
}

} // namespace

Index windowOutput(const Window& window, Index extent, int dim) {
  checkAtLeast("kernel", window.kernel, 1, dim);
  checkAtLeast("stride", window.stride, 1, dim);
  checkAtLeast("dilation", window.dilation, 1, dim);
  for (const Index padding : {window.padLow, window.padHigh})
    if (padding < -kMaxElements || padding > kMaxElements)
      throw Error(TENON_ERR_SHAPE,
                  fmt::format("the padding of spatial dimension {} is {}; no dimension has more "
                              "than {} elements",
                              dim, padding, kMaxElements));
  constexpr const char* kPadded = "the extent of a padded dimension";
  const Index padded =
      checkedSum(checkedSum(extent, window.padLow, kPadded), window.padHigh, kPadded);
  const Index beyond = window.ceil ? window.stride - 1 : 0;
  if (checkedSum(padded, beyond, kPadded) < window.reach())
    throw Error(TENON_ERR_SHAPE,
                fmt::format("the window spans {1} elements in spatial dimension {0} (kernel {2}, "
                            "dilation {3}), but the input of {4} with padding {5} + {6} has {7}; "
                            "use a larger input or more padding",
                            dim, window.reach(), window.kernel, window.dilation, extent,
                            window.padLow, window.padHigh, padded));
  const Index outputs = (padded + beyond - window.reach()) / window.stride + 1;
  // With `ceil`, a truncated window is an output too, unless it would begin beyond the domain and
  // read only padding. Negative padding cuts the domain short. The last window begins at the padded
  // index (outputs - 1) * stride, counted from `padLow` elements before the domain.
  const Index domainEnd = extent + std::min<Index>(window.padHigh, 0);
  const bool lastBeginsBeyond = (outputs - 1) * window.stride >= domainEnd + window.padLow;
  return window.ceil && outputs > 1 && lastBeginsBeyond ? outputs - 1 : outputs;
}

Interval windowInput(const Window& window, Interval outputs) {
  if (outputs.empty())
    return {0, 0};
  const Index first = outputs.begin * window.stride - window.padLow;
  const Index last = (outputs.end - 1) * window.stride - window.padLow;
  return {first, last + window.reach()};
}

Interval windowBox(const Window& window, Index extent, Interval outputs) {
  Interval box = windowInput(window, outputs);
  box.end = std::min(box.end, extent + window.padHigh);
  if (window.lowMode == Boundary::None)
    box.begin = std::max<Index>(box.begin, 0);
  if (window.highMode == Boundary::None)
    box.end = std::min(box.end, extent);
  return box.empty() ? Interval{} : box;
}

Window withHighPaddingFor(Window window, Interval outputs, Index regular) {
  window.padHigh += std::max<Index>(0, outputs.end - regular) * window.stride;
  return window;
}

Interval interiorOutputs(const Window& window, Index extent, Interval owned, Interval outputs) {
  const auto reads = [&](Index output) { return windowBox(window, extent, {output, output + 1}); };
  // An output that reads only padding needs no halo, and ends the search.
  while (!outputs.empty() && !reads(outputs.begin).empty() &&
         reads(outputs.begin).begin < owned.begin)
    ++outputs.begin;
  while (!outputs.empty() && !reads(outputs.end - 1).empty() &&
         reads(outputs.end - 1).end > owned.end)
    --outputs.end;
  // The loops stop at an output that reads only padding. Outputs between may still read a halo;
  // then none counts as interior.
  const Interval box = windowBox(window, extent, outputs);
  const bool own = box.empty() || (box.begin >= owned.begin && box.end <= owned.end);
  return own ? outputs : Interval{outputs.begin, outputs.begin};
}

std::vector<Index> windowCuts(const Window& window, const std::vector<Index>& inputCuts,
                              Index outputs) {
  std::vector<Index> cuts;
  // The window of output o is centred at input o * stride + centre. The cut precedes the first
  // output whose centre is not before the input cut. Outputs whose centre is outside the domain
  // belong to the first or last part, so the outer cuts are fixed.
  const Index centre = (window.reach() - 1) / 2 - window.padLow;
  for (Index cut : inputCuts)
    cuts.push_back(std::clamp<Index>(ceilDivide(cut - centre, window.stride), 0, outputs));
  cuts.front() = 0;
  cuts.back() = outputs;
  return cuts;
}

} // namespace tenon
