// SPDX-License-Identifier: BSD-2-Clause
// The table of reduction algorithms, and the cheapest of them. The table is set while the library is
// initialised and only read afterwards, so that it needs no lock.
#include "linop/exchange/reduction_algorithm.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

std::span<const ReductionAlgorithmRow> reductionAlgorithms;

} // namespace

void setReductionAlgorithms(std::span<const ReductionAlgorithmRow> table) noexcept {
  reductionAlgorithms = table;
}

std::vector<ReductionAlgorithmRef> wantedReductionAlgorithms() {
  std::vector<ReductionAlgorithmRef> wanted;
  for (const ReductionAlgorithmRow row : reductionAlgorithms)
    if (ReductionAlgorithmRef algorithm = row())
      wanted.push_back(std::move(algorithm));
  return wanted;
}

ReductionOffer bestOffer(const std::vector<ReductionAlgorithmRef>& algorithms,
                         const ReductionTask& sum) {
  ReductionOffer best;
  std::string why;
  for (const ReductionAlgorithmRef& algorithm : algorithms) {
    ReductionOffer offer = algorithm->offer(sum);
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
