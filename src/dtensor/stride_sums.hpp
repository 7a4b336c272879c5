// SPDX-License-Identifier: BSD-2-Clause
// Distances that the strides of an array make: sums of k[d] stride[d] with every k[d] within
// bounds. Such sums answer, exactly and for any strides, whether two arrays share memory and
// whether two indices of a tensor are the same element of its array.
#pragma once

#include "dtensor/array_list.hpp"
#include "dtensor/dtensor.hpp"

#include <optional>

namespace tenon {

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
  // Adds a lag, but unites it with one of the same stride, if there is one; the dimension of that
  // one stays.
  void merge(const Lag& lag);
  // Whether a distance is such a sum. If so, the lags' k are those of one such sum.
  bool reach(Index distance);
  // Whether the distance 0 is such a sum without all k being 0.
  bool returnToZero();
  const Lag* begin() const noexcept { return lags_.data(); }
  const Lag* end() const noexcept { return lags_.data() + count_; }

private:
  bool reach(Index distance, int from);
  // The largest and the smallest sum of the lags from `from` on.
  Index highest(int from) const;
  Index lowest(int from) const;

  // The dimensions of two arrays, and the bytes of an element.
  static constexpr int kMax = 2 * kMaxRank + 1;
  std::array<Lag, kMax> lags_{};
  int count_ = 0;
};

// Two indices in the extent that are the same element of the array; nothing if all are distinct. A
// stride of 0 repeats elements by intention and is not looked at.
struct SameElement {
  std::vector<Index> first, second;
};
std::optional<SameElement> sameElement(const Shape& extent, const Strides& strides);

// Checks of what a user says about an array: that it is long enough for what extents and strides
// reach, and that no two indices are the same element of it.

// `extent` counts the owned elements and the ghosts. Throws TENON_ERR_SHAPE if the array spans more
// than `length` elements from its lowest to its highest, where 0 stands for an unknown length, or
// more than memory can have; TENON_ERR_ARG if the length is negative.
void checkSpan(const Shape& extent, const Strides& strides, Index length, Index elementSize);

// `extent` counts the tensor's elements. Throws TENON_ERR_ARG if two indices are the same element;
// a stride of 0 is allowed for an array that is never written.
void checkDistinct(const Shape& extent, const Strides& strides, bool readOnly);

// Whether the local arrays of two tensors share memory: whether some byte belongs to an element of
// both, exactly for any strides and types. Two components of an interleaved array share none, nor
// do two separate boxes of an array. Nothing is allocated.
bool shareElements(const DTensor& x, const DTensor& y);

// Whether x and y have the same elements at the same indices.
bool areSameElements(const DTensor& x, const DTensor& y);

} // namespace tenon
