// SPDX-License-Identifier: BSD-2-Clause
// Distances that the strides of an array make: sums of k[d] stride[d] with every k[d] within bounds.
// They say whether two arrays share an element, and whether two elements of an array are one.
#pragma once

#include "dtensor/array_list.hpp"
#include "dtensor/dtensor.hpp"

#include <optional>

namespace tenon {

// Whether the local arrays of two tensors have memory in common.

// Whether a byte belongs to an element of both: exact for any strides and types. Two components of an interleaved array, or
// two of its boxes, share none. Nothing is allocated.
bool shareElements(const DTensor& x, const DTensor& y);

// Whether each element of x is the same element of y.
bool areSameElements(const DTensor& x, const DTensor& y);

// Checks of what a caller says about his array: that it is long enough for the elements that strides and
// extents reach, and that no two of the tensor's elements are one element of it.

// `extent` counts the owned elements with the ghosts. Throws TENON_ERR_SHAPE if the elements from the
// lowest to the highest of them are more than `length`, which is 0 where it is not known, or more
// than memory can have; TENON_ERR_ARG if the length is negative.
void checkSpan(const Shape& extent, const Strides& strides, Index length, Index elementSize);

// `extent` counts the tensor's elements. Throws TENON_ERR_ARG if two of them are one element; only an
// array that is never written may have strides of 0.
void checkDistinct(const Shape& extent, const Strides& strides, bool readOnly);

// A dimension with its positive stride, in which k runs from -below to above.
struct Lag {
  Index stride, below, above;
  int dim;
  Index k = 0;
};

// Lags sorted by falling strides.
class Lags {
public:
  void add(const Lag& lag);
  // The same, but lags of one stride become one, whose dimension is the first's.
  void merge(const Lag& lag);
  // Whether a distance is such a sum. The lags' k are then those of one.
  bool reach(Index distance);
  // Whether the distance 0 is one without all k being 0.
  bool returnToZero();
  const Lag* begin() const noexcept { return lags_.data(); }
  const Lag* end() const noexcept { return lags_.data() + count_; }

private:
  bool reach(Index distance, int from);
  // The largest sum of the lags from one on, where every k is `above`.
  Index highest(int from) const;
  Index lowest(int from) const;

  static constexpr int kMost =
      2 * kMaxRank + 1; // those of two arrays, and of the bytes of an element
  std::array<Lag, kMost> lags_{};
  int count_ = 0;
};

// Two elements of an array that are one element of memory, by their indices in the extent; nothing if all
// elements are distinct. A stride of 0 repeats elements and is not looked at.
struct SameElement {
  std::vector<Index> first, second;
};
std::optional<SameElement> sameElement(const Shape& extent, const Strides& strides);

} // namespace tenon
