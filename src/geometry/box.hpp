// SPDX-License-Identifier: BSD-2-Clause
// Half-open intervals and boxes of global indices.
#pragma once

#include "sys/types.hpp"

#include <algorithm>
#include <vector>

namespace tenon {

using Shape = std::vector<Index>;

constexpr int kMaxRank = 8;

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

inline Index cells(const Box& box) {
  Index n = 1;
  for (const Interval& side : box)
    n *= side.size();
  return n;
}

inline Index cells(const Shape& shape) {
  Index n = 1;
  for (Index extent : shape)
    n *= extent;
  return n;
}

inline Shape extents(const Box& box) {
  Shape shape;
  for (const Interval& side : box)
    shape.push_back(side.size());
  return shape;
}

// Row-major strides, last dimension fastest.
inline Shape rowMajorStrides(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (int d = static_cast<int>(shape.size()) - 2; d >= 0; --d)
    strides[d] = strides[d + 1] * shape[d + 1];
  return strides;
}

} // namespace tenon
