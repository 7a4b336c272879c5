// SPDX-License-Identifier: BSD-2-Clause
#include "dtensor/stride_sums.hpp"

namespace tenon {

namespace {

Index floorDivide(Index a, Index b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

} // namespace

void Lags::add(const Lag& lag) {
  int at = count_++;
  for (; at > 0 && lags_[at - 1].stride < lag.stride; --at)
    lags_[at] = lags_[at - 1];
  lags_[at] = lag;
}

void Lags::merge(const Lag& lag) {
  for (int at = 0; at < count_; ++at)
    if (lags_[at].stride == lag.stride) {
      lags_[at].below += lag.below;
      lags_[at].above += lag.above;
      return;
    }
  add(lag);
}

Index Lags::highest(int from) const {
  Index sum = 0;
  for (; from < count_; ++from)
    sum += lags_[from].above * lags_[from].stride;
  return sum;
}

Index Lags::lowest(int from) const {
  Index sum = 0;
  for (; from < count_; ++from)
    sum -= lags_[from].below * lags_[from].stride;
  return sum;
}

bool Lags::reach(Index distance) {
  return reach(distance, 0);
}

// Only a few k of each dimension leave a distance that the inner ones, with smaller strides, can
// bridge.
bool Lags::reach(Index distance, int from) {
  if (from == count_)
    return distance == 0;
  Lag& lag = lags_[from];
  const Index first = std::max(-lag.below, -floorDivide(highest(from + 1) - distance, lag.stride));
  const Index last = std::min(lag.above, floorDivide(distance - lowest(from + 1), lag.stride));
  for (lag.k = first; lag.k <= last; ++lag.k)
    if (reach(distance - lag.k * lag.stride, from + 1))
      return true;
  return false;
}

bool Lags::returnToZero() {
  for (int d = count_ - 1; d >= 0; --d) { // the first dimension whose k is not 0
    Lag& lag = lags_[d];
    const Index last = std::min(lag.above, -floorDivide(lowest(d + 1), lag.stride));
    for (lag.k = 1; lag.k <= last; ++lag.k)
      if (reach(-lag.k * lag.stride, d + 1)) {
        for (int outer = 0; outer < d; ++outer)
          lags_[outer].k = 0;
        return true;
      }
  }
  return false;
}

std::optional<SameElement> sameElement(const Shape& extent, const Strides& strides) {
  Lags lags;
  for (std::size_t d = 0; d < extent.size(); ++d)
    if (extent[d] > 1 && strides[d] != 0)
      lags.add({std::abs(strides[d]), extent[d] - 1, extent[d] - 1, static_cast<int>(d)});
  if (!lags.returnToZero())
    return {};
  SameElement same{std::vector<Index>(extent.size()), std::vector<Index>(extent.size())};
  for (const Lag& lag : lags) {
    const Index k = strides[lag.dim] < 0 ? -lag.k : lag.k;
    (k > 0 ? same.first : same.second)[lag.dim] = std::abs(k);
  }
  return same;
}

} // namespace tenon
