// SPDX-License-Identifier: BSD-2-Clause
// im2col copies the inputs of a convolution to a matrix X with one row per pair (input channel c,
// tap t) and one column per output o:
//     X[(c,t), o] = x[c, o stride - padLow + t dilation],  or 0 on padding.
// With w as a matrix [outChannels, (c,t)], the convolution is the product w X. Example in one
// dimension, 3 taps, stride 1, padLow 1, inputs a b c d:
//     t = 0:   0 a b c
//     t = 1:   a b c d
//     t = 2:   b c d 0
// X is built for one channel c and a rectangle of outputs of one image at a time: rows (o0, o1) and
// columns o2 of an embedded (three-dimensional) window. gatherColumns() builds these rows of X, and
// scatterColumns() is its transpose, for the adjoint in the data.
#pragma once

#include "kernels/convolution/window.hpp"

#include <algorithm>

namespace tenon {

// A tile of the outputs of a convolution.
struct OutputTile {
  Range rows; // range of the outputs (o0, o1), flattened
  Range cols; // range of the outputs o2
};

// Calls visit(matrix row, offset of the run in the row, length, x offset, inside) for each run: the
// elements of one row of X for consecutive outputs o2. Output o of the run, counted from its start
// and in [inside.begin, inside.end), reads x[x offset + o stride]; the others read padding.
template <class Visit>
void forEachRun(const WindowShape& w, const OutputTile& tile, Visit visit) {
  const Index length = tile.cols.end - tile.cols.begin;
  Index row = 0;
  for (Index t0 = 0; t0 < w.kernel[0]; ++t0)
    for (Index t1 = 0; t1 < w.kernel[1]; ++t1)
      for (Index t2 = 0; t2 < w.kernel[2]; ++t2, ++row) {
        Range inside = outputsInside(w, 2, t2);
        inside.begin = std::clamp(inside.begin - tile.cols.begin, Index(0), length);
        inside.end = std::clamp(inside.end - tile.cols.begin, inside.begin, length);
        const Index i2 = tile.cols.begin * w.stride[2] - w.padLow[2] + t2 * w.dilation[2];
        for (Index r = tile.rows.begin; r < tile.rows.end; ++r) {
          const Index i0 = r / w.out[1] * w.stride[0] - w.padLow[0] + t0 * w.dilation[0];
          const Index i1 = r % w.out[1] * w.stride[1] - w.padLow[1] + t1 * w.dilation[1];
          const bool reads = i0 >= 0 && i0 < w.in[0] && i1 >= 0 && i1 < w.in[1];
          visit(row, (r - tile.rows.begin) * length, length, (i0 * w.in[1] + i1) * w.in[2] + i2,
                reads ? inside : Range{0, 0});
        }
      }
}

// Fills columns[t, o] for the tile from x, one input channel; `distance` is the row stride.
template <class T>
void gatherColumns(const WindowShape& w, const OutputTile& tile, const T* x, T* columns,
                   Index distance) {
  const Index stride = w.stride[2];
  forEachRun(w, tile, [=](Index row, Index offset, Index length, Index at, Range inside) {
    T* run = columns + row * distance + offset;
    std::fill(run, run + inside.begin, T(0));
    if (stride == 1)
      for (Index o = inside.begin; o < inside.end; ++o)
        run[o] = x[at + o];
    else
      for (Index o = inside.begin; o < inside.end; ++o)
        run[o] = x[at + o * stride];
    std::fill(run + inside.end, run + length, T(0));
  });
}

// x += the transpose of gatherColumns(), applied to columns.
template <class T>
void scatterColumns(const WindowShape& w, const OutputTile& tile, const T* columns, Index distance,
                    T* x) {
  const Index stride = w.stride[2];
  forEachRun(w, tile, [=](Index row, Index offset, Index, Index at, Range inside) {
    const T* run = columns + row * distance + offset;
    if (stride == 1)
      for (Index o = inside.begin; o < inside.end; ++o)
        x[at + o] += run[o];
    else
      for (Index o = inside.begin; o < inside.end; ++o)
        x[at + o * stride] += run[o];
  });
}

} // namespace tenon
