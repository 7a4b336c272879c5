// SPDX-License-Identifier: BSD-2-Clause
// Byte p of cell i of x is byte q of cell j of y if  i . stepsX + p - j . stepsY - q  is the distance of the arrays:
// a sum of strides with numbers within bounds, as stride_sums.hpp finds it.
#include "dtensor/overlap.hpp"

#include "dtensor/arithmetic.hpp"
#include "dtensor/stride_sums.hpp"

#include <functional>

namespace tenon {

namespace {

bool hasArray(const DTensor& x) {
  return x.localCells() > 0 && (x.isPlaced() || x.arrayBytes() > 0);
}

bool isWithinReach(const ByteSpan& x, const ByteSpan& y) {
  const std::less<const std::byte*> before;
  return before(x.begin, y.begin + y.bytes) && before(y.begin, x.begin + x.bytes);
}

// The bytes from a cell of x to others of it, or, with `from`, to it from others.
void addSteps(const DTensor& x, bool from, Lags& lags) {
  const Index size = dataTypeSize(x.dataType());
  const auto add = [&](Index stride, Index most) {
    const bool ahead = (stride > 0) != from;
    lags.merge({std::abs(stride), ahead ? 0 : most, ahead ? most : 0, 0});
  };
  for (int d = 0; d < x.rank(); ++d)
    if (x.strides()[d] != 0 && x.extent()[d] > 1)
      add(x.strides()[d] * size, x.extent()[d] - 1);
  add(1, size - 1);
}

} // namespace

bool shareCells(const DTensor& x, const DTensor& y) {
  if (!hasArray(x) || !hasArray(y) || x.space() != y.space() ||
      !isWithinReach(spanOf(x), spanOf(y)))
    return false;
  Lags lags;
  addSteps(x, false, lags);
  addSteps(y, true, lags);
  return lags.reach(static_cast<const std::byte*>(arrayOf(y)) -
                    static_cast<const std::byte*>(arrayOf(x)));
}

bool areSameCells(const DTensor& x, const DTensor& y) {
  if (x.extent() != y.extent() || x.dataType() != y.dataType() || arrayOf(x) != arrayOf(y))
    return false;
  for (int d = 0; d < x.rank(); ++d)
    if (x.extent()[d] > 1 && x.strides()[d] != y.strides()[d])
      return false;
  return true;
}

} // namespace tenon
