// SPDX-License-Identifier: BSD-2-Clause
// Intervals, boxes and shapes: half-open ranges of global indices.
#pragma once

#include "sys/text/text.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

namespace tenon {

using Shape = std::vector<Index>;

// Largest number of dimensions of a tensor. Since it is fixed, strides and regions (of messages)
// are arrays that allocate nothing.
constexpr int kMaxDims = 8;
using Strides = std::array<Index, kMaxDims>;
// The largest number of elements whose size in bytes fits into 64 bits, for the widest types, of 8
// bytes (float64, int64). No layout, and no box of a layout, has more.
inline constexpr Index kMaxElements = std::numeric_limits<Index>::max() / 8;

struct Interval {
  Index begin = 0;
  Index end = 0;

  Index size() const noexcept { return end > begin ? end - begin : 0; }
  bool empty() const noexcept { return end <= begin; }
  bool operator==(const Interval&) const = default;
};

inline Interval intersect(Interval a, Interval b) {
  const Index begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

using Box = std::vector<Interval>;

inline Shape extents(const Box& box) {
  Shape shape;
  for (const Interval& side : box)
    shape.push_back(side.size());
  return shape;
}

// The number of elements. Throws TENON_ERR_SHAPE if it does not fit into 64 bits.
inline Index elements(const Shape& shape) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end())
    return 0;
  Index n = 1;
  for (Index extent : shape)
    n = checkedProduct(n, extent, "the number of elements");
  return n;
}

inline Index elements(const Box& box) {
  // Empty sides first, so the widths of the other sides do not matter.
  for (const Interval& side : box)
    if (side.empty())
      return 0;
  Index n = 1;
  for (const Interval& side : box)
    n = checkedProduct(n, checkedDifference(side.end, side.begin, "the width of a box"),
                       "the number of elements");
  return n;
}

// Row-major strides, last dimension fastest. Not checked for overflow: the extents of layouts
// multiply to at most kMaxElements.
inline Shape rowMajorStrides(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (int d = static_cast<int>(shape.size()) - 2; d >= 0; --d)
    strides[d] = strides[d + 1] * shape[d + 1];
  return strides;
}

} // namespace tenon
