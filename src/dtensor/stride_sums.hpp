// SPDX-License-Identifier: BSD-2-Clause
// Decides, exactly and for any strides, whether two arrays share memory, and whether two indices of
// a tensor are the same element of its array. Both questions are whether a distance is a sum of
// k[d] stride[d] over the dimensions d, with bounded integers k[d]. For example, with the extents
// (3, 4) and the strides (2, 1), the indices (0, 2) and (1, 0) are the same element, since
// 1 * 2 - 2 * 1 = 0.
#pragma once

#include "dtensor/array_list.hpp"
#include "dtensor/dtensor.hpp"

#include <optional>

namespace tenon {

// One term k stride of such a sum: a dimension with a positive stride, and k in [-below, above].
struct StrideTerm {
  Index stride, below, above;
  int dim;
  Index k = 0;
};

// The terms of a sum, in decreasing order of strides.
class StrideSum {
public:
  void add(const StrideTerm& term);
  // Adds a term, or extends the bounds of a term with the same stride, whose dimension remains.
  void merge(const StrideTerm& term);
  // True if `distance` is a sum of k stride. Each term then has the k of one such sum.
  bool reach(Index distance);
  // True if 0 is a sum of k stride with some nonzero k.
  bool returnToZero();
  const StrideTerm* begin() const noexcept { return terms_.data(); }
  const StrideTerm* end() const noexcept { return terms_.data() + count_; }

private:
  bool reach(Index distance, int from);
  // The largest and the smallest sum of the terms from number `from` on.
  Index highest(int from) const;
  Index lowest(int from) const;

  // The dimensions of two arrays, and the bytes of an element.
  static constexpr int kMax = 2 * kMaxDims + 1;
  std::array<StrideTerm, kMax> terms_{};
  int count_ = 0;
};

// Two indices in the extent that are the same element of the array, or nothing if all are distinct.
// Dimensions with stride 0, which repeat elements intentionally, are ignored.
struct SameElement {
  std::vector<Index> first, second;
};
std::optional<SameElement> sameElement(const Shape& extent, const Strides& strides);

// Checks of a user's array: that it is long enough for the extents and strides, and that no two
// indices are the same element.

// `extent` includes the ghosts. Throws TENON_ERR_SHAPE if the array spans more than `length`
// elements from the lowest to the highest (0: unknown length), or more than memory can have;
// TENON_ERR_ARG if the length is negative.
void checkSpan(const Shape& extent, const Strides& strides, Index length, Index elementSize);

// `extent` is that of the tensor's elements. Throws TENON_ERR_ARG if two indices are the same
// element; stride 0 is allowed for an array that is never written.
void checkDistinct(const Shape& extent, const Strides& strides, bool readOnly);

// True if the local arrays of two tensors share memory, that is, some byte belongs to an element of
// both; exact for any strides and types. Two components of an interleaved array do not share
// memory, nor do two disjoint boxes of an array. Allocates nothing.
bool shareElements(const DTensor& x, const DTensor& y);

// True if x and y have the same elements at the same indices.
bool areSameElements(const DTensor& x, const DTensor& y);

} // namespace tenon
