// SPDX-License-Identifier: BSD-2-Clause
#include "dtensor/overlap.hpp"

#include "dtensor/arithmetic.hpp"

namespace tenon {

namespace {

// A dimension along which cell i of x and cell j of y lie (i - j) strides apart, and so between
// -below and above of them.
struct Lag {
  Index stride, below, above;
};

Index floorDivide(Index a, Index b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

// Whether distance = sum of k[d] stride[d] with every k[d] within its bounds. Sorted by falling
// strides, only a few k of each dimension leave a distance that the inner ones can bridge.
bool isReached(Index distance, const Lag* lag, const Lag* end) {
  if (lag == end)
    return distance == 0;
  Index lowest = 0, highest = 0;
  for (const Lag* inner = lag + 1; inner != end; ++inner) {
    lowest -= inner->below * inner->stride;
    highest += inner->above * inner->stride;
  }
  const Index first = std::max(-lag->below, -floorDivide(highest - distance, lag->stride));
  const Index last = std::min(lag->above, floorDivide(distance - lowest, lag->stride));
  for (Index k = first; k <= last; ++k)
    if (isReached(distance - k * lag->stride, lag + 1, end))
      return true;
  return false;
}

void insertSorted(const Lag& lag, Lag* begin, Lag* end) {
  for (; end != begin && end[-1].stride < lag.stride; --end)
    *end = end[-1];
  *end = lag;
}

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
  std::array<Lag, kMaxRank> lags{};
  Lag* end = lags.data();
  for (int d = 0; d < x.rank(); ++d) {
    const Index stride = x.strides()[d];
    const Index below = y.extent()[d] - 1, above = x.extent()[d] - 1;
    if (stride != 0 && below + above > 0)
      insertSorted(stride > 0 ? Lag{stride, below, above} : Lag{-stride, above, below}, lags.data(),
                   end++);
  }
  return isReached((atY - atX) / size, lags.data(), end);
}

} // namespace tenon
