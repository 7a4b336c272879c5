// SPDX-License-Identifier: BSD-2-Clause
// The table of reduction methods, and the choice of the cheapest offer. The table is set while the
// library is initialised and only read afterwards, so it needs no lock.
#include "linop/exchange/reduction_method.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

std::span<const ReductionMethodRow> reductionMethods;

} // namespace

void setReductionMethods(std::span<const ReductionMethodRow> table) noexcept {
  reductionMethods = table;
}

std::vector<ReductionMethodRef> wantedReductionMethods() {
  std::vector<ReductionMethodRef> wanted;
  for (const ReductionMethodRow row : reductionMethods)
    if (ReductionMethodRef method = row())
      wanted.push_back(std::move(method));
  return wanted;
}

ReductionOffer bestOffer(const std::vector<ReductionMethodRef>& methods, const ReductionTask& sum) {
  ReductionOffer best;
  std::string why;
  for (const ReductionMethodRef& method : methods) {
    ReductionOffer offer = method->offer(sum);
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
