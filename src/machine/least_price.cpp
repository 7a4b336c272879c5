// SPDX-License-Identifier: BSD-2-Clause
#include "machine/least_price.hpp"

#include <algorithm>

namespace tenon {

namespace {

int ranksOn(const Mesh& some, const Mesh& others) {
  const auto isNew = [&](int rank) { return some.position(rank) < 0; };
  return some.size() +
         (some == others ? 0 : static_cast<int>(std::ranges::count_if(others.ranks(), isNew)));
}

} // namespace

LeastPrice::LeastPrice(const Layout& from, const Layout& to, Index cellBytes,
                       const LinkRates& rates)
    : latency_(rates.latency), bandwidth_(rates.bandwidth), copyBandwidth_(rates.copyBandwidth) {
  for (const LevelRates& level : rates.levels) {
    latency_ = std::min(latency_, level.latency);
    bandwidth_ = std::max(bandwidth_, level.bandwidth);
  }
  latency_ += rates.overhead;
  bytes_ = static_cast<double>(cells(from.shape())) * static_cast<double>(cellBytes) /
           ranksOn(from.mesh(), to.mesh());
}

LeastPrice::Spread LeastPrice::spreadOf(const Layout& layout) {
  return spreadOf(layout, -1, {});
}

LeastPrice::Spread LeastPrice::spreadOf(const Layout& layout, int axis, Property property) {
  Spread spread;
  for (int a = 0; a < layout.mesh().axes(); ++a) {
    const Property here = a == axis ? property : layout.property(a);
    const double extent = layout.mesh().extent(a);
    if (here.isPartial())
      spread.addends *= extent;
    if (here.isBroadcast())
      spread.copies *= extent;
  }
  spread.held = spread.addends * spread.copies;
  return spread;
}

double LeastPrice::seconds(const Spread& from, const Spread& to) const {
  const bool sums = from.addends > 1 && to.addends == 1;
  const bool repeats = to.copies > 1 && from.copies == 1;
  const double received = to.copies - (sums ? 0 : from.held);
  const double sent = from.addends - (repeats ? 0 : to.held);
  const double moved = std::max({received, sent, 0.0});
  const double copied = moved + std::max(moved, to.held);
  const double least = bytes_ * (moved / bandwidth_ + copied / copyBandwidth_);
  return moved > 0 && bytes_ > 0 ? std::max(least, latency_) : least;
}

} // namespace tenon
