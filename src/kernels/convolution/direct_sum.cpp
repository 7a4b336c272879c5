// SPDX-License-Identifier: BSD-2-Clause
// Expresses a convolution, and its adjoint with respect to the data, as direct sums (formula in
// direct_sum.hpp), and splits the outputs of a sum into bands whose padded input fits a cache.
//
// The adjoint of a window with stride s is one sum for each residue r of the input position modulo
// s, because all inputs of one residue are read by the same taps. Example, stride 2 with 3 taps and
// no padding: even inputs are read by taps 0 and 2, odd inputs by tap 1.
#include "kernels/convolution/direct_sum.hpp"

#include "kernels/convolution/backends.hpp"

#include <algorithm>

namespace tenon {

// Bands: the division of the outputs of a sum.

Bands::Bands(const DirectSum& sum, int lanes, Index elements) : sum_(sum), lanes_(lanes) {
  if (!sum_.taps.empty())
    low_ = high_ = sum_.taps.front().shift;
  for (const DirectSum::Tap& tap : sum_.taps)
    for (int d = 0; d < kMaxSpatial; ++d) {
      low_[d] = std::min(low_[d], tap.shift[d]);
      high_[d] = std::max(high_[d], tap.shift[d]);
    }
  planExtents(elements);
  planInput();
  planVectors();
}

// Halves dimensions until the padded input of a band has at most `elements` elements, each time the
// dimension whose halves together read the least additional input: inputs at the cut are read by
// both halves. A row retains at least 8 vectors, if it has them, because the loops over a row are
// efficient only if it is long.
void Bands::planExtents(Index elements) {
  const Index channels = std::max<Index>(1, sum_.inChannels);
  const Position smallest{1, 1, 8 * Index(lanes_)};
  extent_ = sum_.out.extent;
  pieces_ = {1, 1, 1};
  // The outputs of each of these pieces; in a row whole vectors, which the loops compute.
  const auto outputsOf = [&](int d, Index pieces) {
    const Index even = ceilDivide(sum_.out.extent[d], pieces);
    return d == 2 ? ceilDivide(even, lanes_) * lanes_ : even;
  };
  while (channels * lengthOf(0, extent_[0]) * lengthOf(1, extent_[1]) * rowLength(extent_[2]) >
         elements) {
    int splitDim = -1;
    double leastGrowth = 0;
    for (int d = 0; d < kMaxSpatial; ++d) {
      const Index half = outputsOf(d, 2 * pieces_[d]);
      if (half < smallest[d] || half >= extent_[d])
        continue;
      const double growth = 2 * double(lengthOf(d, half)) / double(lengthOf(d, extent_[d]));
      if (splitDim < 0 || growth < leastGrowth) {
        splitDim = d;
        leastGrowth = growth;
      }
    }
    if (splitDim < 0)
      break;
    pieces_[splitDim] *= 2;
    extent_[splitDim] = outputsOf(splitDim, pieces_[splitDim]);
  }
  for (int d = 0; d < kMaxSpatial; ++d)
    pieces_[d] = extent_[d] > 0 ? ceilDivide(sum_.out.extent[d], extent_[d]) : 0;
}

void Bands::planInput() {
  if (perImage() == 0)
    return;
  rowStride_ = rowLength(extent_[2]);
  planeStride_ = rowStride_ * lengthOf(1, extent_[1]);
  channelStride_ = planeStride_ * lengthOf(0, extent_[0]);
  for (Index c = 0; c < sum_.inChannels; ++c)
    for (const DirectSum::Tap& tap : sum_.taps)
      offsets_.push_back(c * channelStride_ + (tap.shift[0] - low_[0]) * planeStride_ +
                         (tap.shift[1] - low_[1]) * rowStride_ + tap.shift[2] - low_[2]);
}

// Along a dimension whose bit is set the band is the last, which has the outputs that remain.
Position Bands::extentOf(int shape) const {
  Position extent = extent_;
  for (int d = 0; d < kMaxSpatial; ++d)
    if (shape >> d & 1)
      extent[d] = sum_.out.extent[d] - (pieces_[d] - 1) * extent_[d];
  return extent;
}

// Bands have equal extents except for the last in each dimension, which can be smaller. This
// results in eight shapes, whose vectors are listed once.
void Bands::planVectors() {
  if (perImage() == 0)
    return;
  const auto& y = sum_.out.strides.space;
  for (int shape = 0; shape < kShapes; ++shape) {
    const Position extent = extentOf(shape);
    Position o;
    for (o[0] = 0; o[0] < extent[0]; ++o[0])
      for (o[1] = 0; o[1] < extent[1]; ++o[1])
        for (o[2] = 0; o[2] < extent[2]; o[2] += lanes_)
          vectors_[shape].push_back(
              {.x = o[0] * sum_.step[0] * planeStride_ + o[1] * sum_.step[1] * rowStride_ + o[2],
               .y = o[0] * y[0] + o[1] * y[1] + o[2] * y[2],
               .count = std::min<Index>(lanes_, extent[2] - o[2])});
  }
}

Bands::Band Bands::band(Index image, Index group, Index piece) const {
  const Position index{piece / pieces_[2] / pieces_[1], piece / pieces_[2] % pieces_[1],
                       piece % pieces_[2]};
  Band band{.image = image, .group = group, .first = {}, .extent = {}, .shape = 0};
  for (int d = 0; d < kMaxSpatial; ++d) {
    band.first[d] = index[d] * extent_[d];
    band.shape |= (index[d] + 1 == pieces_[d] ? 1 : 0) << d;
  }
  band.extent = extentOf(band.shape);
  return band;
}

Index Bands::firstOutput(const Band& band, Index k) const {
  const ImageStrides& y = sum_.out.strides;
  Index at =
      sum_.out.first + band.image * y.batch + (band.group * sum_.outChannels + k) * y.channel;
  for (int d = 0; d < kMaxSpatial; ++d)
    at += band.first[d] * y.space[d];
  return at;
}

// Copies `length` elements of a row of the input, starting at position `begin`, which is negative
// in the padding. Elements outside the array are zero, as is the rest of the padded row.
template <class T>
void Bands::loadRow(const T* in, Index begin, Index length, T* row) const {
  const Index extent = sum_.in.extent[2], step = sum_.in.strides.space[2];
  const Index from = std::clamp<Index>(-begin, 0, length);
  const Index to = std::clamp<Index>(extent - begin, from, length);
  std::fill(row, row + from, T(0));
  if (step == 1 && from < to)
    std::copy_n(in + begin + from, to - from, row + from);
  else
    for (Index i = from; i < to; ++i)
      row[i] = in[(begin + i) * step];
  std::fill(row + to, row + rowStride_, T(0));
}

// Copies all channels, planes and rows that the band's outputs read to padded[channel, plane, row].
template <class T>
void Bands::load(const Band& band, const T* in, T* padded) const {
  const ImageStrides& x = sum_.in.strides;
  Position begin, length;
  for (int d = 0; d < kMaxSpatial; ++d) {
    begin[d] = band.first[d] * sum_.step[d] + low_[d];
    length[d] = lengthOf(d, band.extent[d]);
  }
  in += sum_.in.first + band.image * x.batch + band.group * sum_.inChannels * x.channel;
  for (Index c = 0; c < sum_.inChannels; ++c)
    for (Index i = 0; i < length[0]; ++i)
      for (Index j = 0; j < length[1]; ++j) {
        const Index i0 = begin[0] + i, i1 = begin[1] + j; // plane and row of the input
        T* row = padded + c * channelStride_ + i * planeStride_ + j * rowStride_;
        if (i0 < 0 || i0 >= sum_.in.extent[0] || i1 < 0 || i1 >= sum_.in.extent[1])
          std::fill(row, row + rowStride_, T(0));
        else
          loadRow(in + c * x.channel + i0 * x.space[0] + i1 * x.space[1], begin[2], length[2], row);
      }
}

template void Bands::load<float>(const Band&, const float*, float*) const;
template void Bands::load<double>(const Band&, const double*, double*) const;

namespace {

// The direct sums of a convolution.

// x and dx, and y and dy, as arrays with three spatial dimensions.
ImageView inputView(const ConvolutionShape& s, const WindowShape& w) {
  return {w.in, denseStrides(s.inChannels, w.in, kMaxSpatial)};
}

ImageView outputView(const ConvolutionShape& s, const WindowShape& w) {
  return {w.out, embedStrides(outputStrides(s), s.window.rank)};
}

// Calls visit(position of the tap in the kernel, row-major index of the tap) for all taps.
template <class Visit>
void forEachTap(const WindowShape& w, Visit visit) {
  Index index = 0;
  Position t;
  for (t[0] = 0; t[0] < w.kernel[0]; ++t[0])
    for (t[1] = 0; t[1] < w.kernel[1]; ++t[1])
      for (t[2] = 0; t[2] < w.kernel[2]; ++t[2])
        visit(t, index++);
}

// The elements of an array whose position is r modulo the stride of the window.
ImageView everyStep(ImageView view, const WindowShape& w, const Position& r) {
  for (int d = 0; d < kMaxSpatial; ++d) {
    view.extent[d] = std::max<Index>(0, ceilDivide(view.extent[d] - r[d], w.stride[d]));
    view.first += r[d] * view.strides.space[d];
    view.strides.space[d] *= w.stride[d];
  }
  return view;
}

// The sum for inputs of residue r, over the outputs that read them. Tap t of output o reads the
// input
//     o stride - padLow + t dilation,
// so only taps that fit the residue contribute, and for each of them the distance between input and
// output, in units of the stride, is constant.
DirectSum adjointSum(const ConvolutionShape& s, const WindowShape& w, const Position& r) {
  const Index in = s.inChannels / s.groups, out = s.outChannels / s.groups;
  const Index taps = kernelVolume(w);
  // The roles of inputs and outputs are exchanged: the sum reads dy and writes dx.
  DirectSum sum{.batch = s.batch,
                .groups = s.groups,
                .inChannels = out,
                .outChannels = in,
                .in = outputView(s, w),
                .out = everyStep(inputView(s, w), w, r),
                .step = {1, 1, 1},
                .taps = {},
                .weightIn = in * taps,
                .weightOut = taps,
                .weightGroup = in * out * taps};
  forEachTap(w, [&](const Position& t, Index index) {
    DirectSum::Tap tap{.shift = {}, .weight = index};
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
  DirectSum sum{.batch = s.batch,
                .groups = s.groups,
                .inChannels = in,
                .outChannels = out,
                .in = inputView(s, w),
                .out = outputView(s, w),
                .step = w.stride,
                .taps = {},
                .weightIn = taps,
                .weightOut = in * taps,
                .weightGroup = in * out * taps};
  forEachTap(w, [&](const Position& t, Index index) {
    DirectSum::Tap tap{.shift = {}, .weight = index};
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
  // Direct convolution requires stride 1 in the last dimension, where r[2] = 0 is the only residue.
  for (r[0] = 0; r[0] < std::min(w.stride[0], w.in[0]); ++r[0])
    for (r[1] = 0; r[1] < std::min(w.stride[1], w.in[1]); ++r[1])
      sums.push_back(adjointSum(s, w, r));
  return sums;
}

} // namespace tenon
