// SPDX-License-Identifier: BSD-2-Clause
// The table of ways to sum, and the cheapest of them. The table is set while the library is
// initialised and only read afterwards, so that it needs no lock.
#include "linop/exchange/way_to_sum.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

std::span<const WayToSumRow> waysToSum;

} // namespace

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
    const bool isTaken = offer.make || !offer.steps.empty();
    const bool isFirst = !best.make && best.steps.empty();
    if (isTaken && (isFirst || offer.seconds < best.seconds))
      best = std::move(offer);
  }
  best.why = std::move(why);
  return best;
}

} // namespace tenon
