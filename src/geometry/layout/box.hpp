// SPDX-License-Identifier: BSD-2-Clause
// Half-open intervals and boxes of global indices.
#pragma once

#include "sys/text/text.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace tenon {

using Shape = std::vector<Index>;

constexpr int kMaxRank = 8;
// The most elements of the widest type whose bytes a 64-bit integer counts. No layout has more, nor
// has any of its boxes.
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

// The number of elements. Throws TENON_ERR_SHAPE if a 64-bit integer cannot count them.
inline Index elements(const Shape& shape) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end())
    return 0;
  Index n = 1;
  for (Index extent : shape)
    n = checkedProduct(n, extent, "the number of elements");
  return n;
}

inline Index elements(const Box& box) {
  // An empty side comes first, so that the widths of the others do not matter.
  for (const Interval& side : box)
    if (side.empty())
      return 0;
  Index n = 1;
  for (const Interval& side : box)
    n = checkedProduct(n, checkedDifference(side.end, side.begin, "the width of a box"),
                       "the number of elements");
  return n;
}

// Row-major strides, last dimension fastest.
inline Shape rowMajorStrides(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (int d = static_cast<int>(shape.size()) - 2; d >= 0; --d)
    strides[d] = strides[d + 1] * shape[d + 1];
  return strides;
}

} // namespace tenon
