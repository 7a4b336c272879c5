// SPDX-License-Identifier: BSD-2-Clause
#include "kernels/convolution_direct_sum.hpp"

#include "kernels/convolution_backends.hpp"

namespace tenon {

namespace {

Cells inputCells(const ConvolutionShape& s, const WindowShape& w) {
  return {w.in, denseStrides(s.inChannels, w.in, kMaxSpatial)};
}

Cells outputCells(const ConvolutionShape& s, const WindowShape& w) {
  return {w.out, embedStrides(outputStrides(s), s.window.rank)};
}

// visit(tap, its index)
template <class Visit>
void forEachTap(const WindowShape& w, Visit visit) {
  Index index = 0;
  Position t;
  for (t[0] = 0; t[0] < w.kernel[0]; ++t[0])
    for (t[1] = 0; t[1] < w.kernel[1]; ++t[1])
      for (t[2] = 0; t[2] < w.kernel[2]; ++t[2])
        visit(t, index++);
}

// The cells whose positions leave the residue r; where each step of the window has one.
Cells everyStep(Cells cells, const WindowShape& w, const Position& r) {
  for (int d = 0; d < kMaxSpatial; ++d) {
    cells.extent[d] = std::max<Index>(0, ceilDivide(cells.extent[d] - r[d], w.stride[d]));
    cells.first += r[d] * cells.strides.space[d];
    cells.strides.space[d] *= w.stride[d];
  }
  return cells;
}

// The sum over the outputs that read an input of the residue r: tap t of output o reads the input
// o stride - padLow + t dilation.
DirectSum adjointSum(const ConvolutionShape& s, const WindowShape& w, const Position& r) {
  const Index in = s.inChannels / s.groups, out = s.outChannels / s.groups;
  const Index taps = kernelVolume(w);
  DirectSum sum{
      s.batch,   s.groups, out,       in,   outputCells(s, w), everyStep(inputCells(s, w), w, r),
      {1, 1, 1}, {},       in * taps, taps, in * out * taps};
  forEachTap(w, [&](const Position& t, Index index) {
    DirectSum::Tap tap{{}, index};
    for (int d = 0; d < kMaxSpatial; ++d) {
      const Index distance = r[d] + w.padLow[d] - t[d] * w.dilation[d];
      if (distance % w.stride[d] != 0)
        return;
      tap.shift[d] = distance / w.stride[d];
    }
    sum.taps.push_back(tap);
  });
  return sum;
}

} // namespace

DirectSum forwardSum(const ConvolutionShape& s) {
  const WindowShape w = embedWindow(s.window);
  const Index in = s.inChannels / s.groups, out = s.outChannels / s.groups;
  const Index taps = kernelVolume(w);
  DirectSum sum{s.batch,  s.groups, in,   out,       inputCells(s, w), outputCells(s, w),
                w.stride, {},       taps, in * taps, in * out * taps};
  forEachTap(w, [&](const Position& t, Index index) {
    DirectSum::Tap tap{{}, index};
    for (int d = 0; d < kMaxSpatial; ++d)
      tap.shift[d] = t[d] * w.dilation[d] - w.padLow[d];
    sum.taps.push_back(tap);
  });
  return sum;
}

std::vector<DirectSum> adjointSums(const ConvolutionShape& s) {
  const WindowShape w = embedWindow(s.window);
  std::vector<DirectSum> sums;
  Position r{};
  for (r[0] = 0; r[0] < std::min(w.stride[0], w.in[0]); ++r[0])
    for (r[1] = 0; r[1] < std::min(w.stride[1], w.in[1]); ++r[1])
      sums.push_back(adjointSum(s, w, r));
  return sums;
}

} // namespace tenon
