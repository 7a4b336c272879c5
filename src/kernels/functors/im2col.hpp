// SPDX-License-Identifier: BSD-2-Clause
// im2col and its transpose on the device, for a tile of outputs (convolution/im2col.hpp has an
// example). im2col copies the input that each tap (element of the kernel) reads to a matrix
// [channel, tap][output], with which a convolution is a matrix product: one thread per channel and
// output loops over the taps. The transpose has one thread per input, which sums all elements of
// the matrix that were copied from it. A tile has at most kMaxWalkedElements columns, and as many
// inputs.
#pragma once

#include "kernels/convolution/im2col.hpp"
#include "kernels/walks/element_offsets.hpp"
#include "sys/device_code.hpp"
#include "sys/types.hpp"

#include <cstdint>

namespace tenon::functors {

// An embedded window, and a tile of the outputs of some images of the batch. The columns are
// indexed [channel, tap, image, row, column].
struct ColumnTile {
  Index in[3], out[3], kernel[3], stride[3], dilation[3], padLow[3];
  Index channels, image, images;        // image: index of the first image
  Index firstRow, rows, firstCol, cols; // rows are outputs (o0, o1), columns are o2

  ColumnTile(const WindowShape& w, Index channelsOfX, Index firstImage, Index numberOfImages,
             const OutputTile& outputs)
      : channels(channelsOfX), image(firstImage), images(numberOfImages),
        firstRow(outputs.rows.begin), rows(outputs.rows.end - outputs.rows.begin),
        firstCol(outputs.cols.begin), cols(outputs.cols.end - outputs.cols.begin) {
    for (int d = 0; d < 3; ++d) {
      in[d] = w.in[d];
      out[d] = w.out[d];
      kernel[d] = w.kernel[d];
      stride[d] = w.stride[d];
      dilation[d] = w.dilation[d];
      padLow[d] = w.padLow[d];
    }
  }
  // Offset in x of an input of image `number` of the tile.
  TENON_DEVICE Index inputAt(Index number, Index channel, Index i0, Index i1, Index i2) const {
    return ((((image + number) * channels + channel) * in[0] + i0) * in[1] + i1) * in[2] + i2;
  }
};

// One thread per (channel, output): for each tap, copies the element of x that it reads, or 0 on
// padding, to a column.
template <class T>
struct GatherColumns {
  ColumnTile tile;
  const T* x;
  T* columns;
  Index distance; // distance between the columns of two taps
  Divisor cols, rows, images, out1;

  GatherColumns(const ColumnTile& t, const T* from, T* to)
      : tile(t), x(from), columns(to), distance(t.images * t.rows * t.cols),
        cols(divisorOf(t.cols)), rows(divisorOf(t.rows)), images(divisorOf(t.images)),
        out1(divisorOf(t.out[1])) {}
  Index outputs() const { return tile.channels * distance; }

  TENON_DEVICE void operator()(Index i) const {
    auto rest = static_cast<std::uint32_t>(i);
    const Index first2 = firstOf(2, tile.firstCol + cols.divide(rest));
    auto row = static_cast<std::uint32_t>(tile.firstRow) + rows.divide(rest);
    const Index number = images.divide(rest), first1 = firstOf(1, out1.divide(row)),
                first0 = firstOf(0, row); // row becomes o0
    const Index taps = tile.kernel[0] * tile.kernel[1] * tile.kernel[2];
    T* to = columns + i + Index(rest) * (taps - 1) * distance;
    for (Index t0 = 0, i0 = first0; t0 < tile.kernel[0]; ++t0, i0 += tile.dilation[0])
      for (Index t1 = 0, i1 = first1; t1 < tile.kernel[1]; ++t1, i1 += tile.dilation[1]) {
        const bool reads = isInside(0, i0) && isInside(1, i1);
        const Index from = tile.inputAt(number, rest, i0, i1, 0);
        for (Index t2 = 0, i2 = first2; t2 < tile.kernel[2]; ++t2, i2 += tile.dilation[2]) {
          *to = reads && isInside(2, i2) ? x[from + i2] : T(0);
          to += distance;
        }
      }
  }

private:
  // The input position that tap 0 of an output reads.
  TENON_DEVICE Index firstOf(int d, Index output) const {
    return output * tile.stride[d] - tile.padLow[d];
  }
  // Without a sign, a negative position is a huge number, so one comparison tests both ends.
  TENON_DEVICE bool isInside(int d, Index input) const {
    return static_cast<std::uint64_t>(input) < static_cast<std::uint64_t>(tile.in[d]);
  }
};

// The transpose: one thread per input that the tile reaches, [image, channel, i0, i1, i2], sums the
// columns that read it.
template <class T>
struct ScatterColumns {
  ColumnTile tile;
  const T* columns;
  T* x;
  Index first[3], inputs; // first input per dimension of a channel, and total number of inputs
  Divisor count[3], channels, stride[3];

  ScatterColumns(const ColumnTile& t, const WindowShape& w, const T* from, T* to)
      : tile(t), columns(from), x(to), inputs(t.images * t.channels),
        channels(divisorOf(t.channels)) {
    const Index last = t.firstRow + t.rows - 1;
    const Index begin = t.firstRow / w.out[1], end = last / w.out[1] + 1; // planes
    // A tile of several planes is taken to have all rows of each, since every input that it reaches
    // must be in the range; inputs that no column of the tile has copied get a sum of 0.
    const bool isOnePlane = end - begin == 1;
    const Range outputs[3] = {
        {begin, end},
        {isOnePlane ? t.firstRow % w.out[1] : 0, isOnePlane ? last % w.out[1] + 1 : w.out[1]},
        {t.firstCol, t.firstCol + t.cols}};
    for (int d = 0; d < 3; ++d) {
      const Range reached = inputsReached(w, d, outputs[d]);
      const Index extent = std::max<Index>(0, reached.end - reached.begin);
      first[d] = reached.begin;
      inputs *= extent;
      count[d] = divisorOf(extent);
      stride[d] = divisorOf(w.stride[d]);
    }
  }

  TENON_DEVICE void operator()(Index i) const {
    auto rest = static_cast<std::uint32_t>(i);
    Index at[3];
    for (int d = 2; d >= 0; --d)
      at[d] = first[d] + count[d].divide(rest);
    const Index channel = channels.divide(rest), number = rest;
    const int taps[3] = {int(tile.kernel[0]), int(tile.kernel[1]), int(tile.kernel[2])};
    T sum = 0;
    for (int t0 = 0; t0 < taps[0]; ++t0) {
      const Index o0 = outputOf(0, at[0], t0);
      if (o0 < 0)
        continue;
      for (int t1 = 0; t1 < taps[1]; ++t1) {
        const Index o1 = outputOf(1, at[1], t1), row = o0 * tile.out[1] + o1 - tile.firstRow;
        if (o1 < 0 || row < 0 || row >= tile.rows)
          continue;
        const Index tap = ((channel * tile.kernel[0] + t0) * tile.kernel[1] + t1) * tile.kernel[2];
        for (int t2 = 0; t2 < taps[2]; ++t2) {
          const Index col = outputOf(2, at[2], t2) - tile.firstCol;
          if (col >= 0 && col < tile.cols)
            sum +=
                columns[(((tap + t2) * tile.images + number) * tile.rows + row) * tile.cols + col];
        }
      }
    }
    x[tile.inputAt(number, channel, at[0], at[1], at[2])] += sum;
  }

private:
  // The output that reads this input by this tap, or -1 if there is none.
  TENON_DEVICE Index outputOf(int d, Index input, int tap) const {
    const Index distance = input + tile.padLow[d] - tap * tile.dilation[d];
    if (distance < 0)
      return -1;
    auto output = static_cast<std::uint32_t>(distance);
    return stride[d].divide(output) == 0 && output < tile.out[d] ? Index(output) : -1;
  }
};

} // namespace tenon::functors
