// SPDX-License-Identifier: BSD-2-Clause
// Which conversions only sum, and the table of ways to do it. The table is set while the library is
// initialised and only read afterwards, so that it needs no lock.
#include "linop/exchange/way_to_sum.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

std::span<const WayToSumRow> waysToSum;

} // namespace

std::vector<int> summedAxes(const Layout& from, const Layout& to) {
  std::vector<int> axes;
  if (from.hasHalos() || from.grid().axes() != to.grid().axes())
    return axes;
  LayoutSpec spec = from.spec();
  for (int axis = 0; axis < from.grid().axes(); ++axis)
    if (from.property(axis).isPartial() && to.property(axis).isBroadcast()) {
      axes.push_back(axis);
      spec.properties[axis] = Property::broadcast();
    }
  // With B in place of P on these axes the layouts must be equal, cuts and order of axes too:
  // nothing but sums may be left to do.
  if (!axes.empty() && !(Layout(std::move(spec)) == to))
    axes.clear();
  return axes;
}

void setWaysToSum(std::span<const WayToSumRow> table) noexcept {
  waysToSum = table;
}

std::vector<WayToSumRef> wantedWaysToSum() {
  std::vector<WayToSumRef> wanted;
  for (const WayToSumRow row : waysToSum)
    if (WayToSumRef way = row())
      wanted.push_back(std::move(way));
  return wanted;
}

SumOffer bestOffer(const std::vector<WayToSumRef>& ways, const SumTask& sum) {
  SumOffer best;
  std::string why;
  for (const WayToSumRef& way : ways) {
    SumOffer offer = way->offer(sum);
    if (!offer.why.empty())
      why += fmt::format("  {}\n", offer.why);
    if (offer.make && (!best.make || offer.seconds < best.seconds))
      best = std::move(offer);
  }
  best.why = std::move(why);
  return best;
}

} // namespace tenon
