// SPDX-License-Identifier: BSD-2-Clause
// Divides work on arrays of more elements than one kernel of the device can index into slices, one
// kernel each. Example: a softmax over the 32 channels of an array [1, 32, 512^3], of 2^32
// elements, takes three kernels for each of its element-wise steps.
#pragma once

#include "kernels/rows/axis_shape.hpp"
#include "kernels/walks/element_offsets.hpp"

#include <algorithm>

namespace tenon {

// Calls visit(first, count) for ranges that make up [0, n); each has at most sliceElements
// elements, if an item has `size` elements, but at least one item.
template <class Visit>
void forEachRange(Index n, Index size, const Visit& visit) {
  const Index most = std::max<Index>(1, sliceElements / std::max<Index>(size, 1));
  for (Index first = 0; first < n; first += most)
    visit(first, std::min(most, n - first));
}

// A slice of an array [outer, n, inner]: its shape, and its first element in the array and, without
// n, in an array [outer, inner].
struct AxisSlice {
  AxisShape shape;
  Index firstElement, firstLine;
};

// Calls visit(slice) for slices of whole lines, which follow each other in [outer, inner]: at most
// sliceElements / ofLine lines each, where a kernel indexes `ofLine` elements per line.
template <class Visit>
void forEachSliceOfLines(const AxisShape& shape, Index ofLine, const Visit& visit) {
  const Index plane = shape.n * shape.inner;
  if (shape.inner * ofLine <= sliceElements)
    return forEachRange(shape.outer, shape.inner * ofLine, [&](Index first, Index count) {
      visit({{count, shape.n, shape.inner}, first * plane, first * shape.inner});
    });
  for (Index o = 0; o < shape.outer; ++o)
    forEachRange(shape.inner, ofLine, [&](Index first, Index count) {
      visit({{1, shape.n, count}, o * plane + first, o * shape.inner + first});
    });
}

// Calls visit(slice) for slices of at most sliceElements elements. Lines that are longer are
// divided too.
template <class Visit>
void forEachAxisSlice(const AxisShape& shape, const Visit& visit) {
  forEachSliceOfLines(shape, std::min(shape.n, sliceElements), [&](const AxisSlice& lines) {
    const AxisShape& part = lines.shape;
    forEachRange(part.n, part.outer * part.inner, [&](Index first, Index count) {
      visit({{part.outer, count, part.inner},
             lines.firstElement + first * shape.inner,
             lines.firstLine});
    });
  });
}

// A slice of a box: its extents, the row-major number of its first element in the box, and the
// offsets of this element in K arrays.
template <int K>
struct BoxSlice {
  Index extent[kMaxBlockRank], firstElement, offset[K];
};

// Calls visit(slice) for slices of at most sliceElements elements, which follow each other in
// row-major order; strides[k] are those of array k.
template <int K, class Visit>
void forEachBoxSlice(const BoxSlice<K>& whole, int rank, const Index* const (&strides)[K], int d,
                     const Visit& visit) {
  Index inner = 1;
  for (int e = d + 1; e < rank; ++e)
    inner *= whole.extent[e];
  if (d == rank || whole.extent[d] * inner <= sliceElements)
    return visit(whole);
  forEachRange(whole.extent[d], inner, [&](Index first, Index count) {
    BoxSlice<K> part = whole;
    part.extent[d] = count;
    part.firstElement += first * inner;
    for (int k = 0; k < K; ++k)
      part.offset[k] += first * strides[k][d];
    forEachBoxSlice(part, rank, strides, d + 1, visit);
  });
}
template <int K, class Visit>
void forEachBoxSlice(int rank, const Index* extent, const Index* const (&strides)[K],
                     const Visit& visit) {
  BoxSlice<K> whole{};
  std::copy_n(extent, rank, whole.extent);
  forEachBoxSlice(whole, rank, strides, 0, visit);
}

} // namespace tenon
