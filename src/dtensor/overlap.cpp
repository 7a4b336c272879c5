// SPDX-License-Identifier: BSD-2-Clause
#include "dtensor/overlap.hpp"

#include "dtensor/arithmetic.hpp"
#include "dtensor/stride_sums.hpp"

namespace tenon {

namespace {

bool haveSameStrides(const DTensor& x, const DTensor& y) {
  for (int d = 0; d < x.rank(); ++d)
    if (x.strides()[d] != y.strides()[d])
      return false;
  return x.rank() == y.rank() && x.dataType() == y.dataType();
}

} // namespace

bool shareCells(const DTensor& x, const DTensor& y) {
  if (!x.isPlaced() || !y.isPlaced() || x.localCells() == 0 || y.localCells() == 0)
    return false;
  const auto* atX = static_cast<const std::byte*>(arrayOf(x));
  const auto* atY = static_cast<const std::byte*>(arrayOf(y));
  const Index size = dataTypeSize(x.dataType());
  if (!haveSameStrides(x, y) || (atY - atX) % size != 0)
    return atX == atY;
  // Cell i of x and cell j of y lie (i - j) strides apart, and so between -below and above of them.
  Lags lags;
  for (int d = 0; d < x.rank(); ++d) {
    const Index stride = x.strides()[d];
    const Index below = y.extent()[d] - 1, above = x.extent()[d] - 1;
    if (stride != 0 && below + above > 0)
      lags.add(stride > 0 ? Lag{stride, below, above, d} : Lag{-stride, above, below, d});
  }
  return lags.reach((atY - atX) / size);
}

} // namespace tenon
