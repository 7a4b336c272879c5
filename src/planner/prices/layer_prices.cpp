// SPDX-License-Identifier: BSD-2-Clause
// Adds up the seconds of a layer under a parallelization (layer_prices.hpp). Kernels are priced
// when a form is added, since forms are not stored; conversions when their seconds are requested,
// since the search requests precise prices of few parallelizations.
#include "planner/prices/layer_prices.hpp"

namespace tenon {

Sampling samplingOf(Precision precision) {
  switch (precision) {
  case Precision::Least:
  case Precision::Lower:
    return Sampling::First;
  case Precision::Close:
    return Sampling::Few;
  case Precision::Exact:
    break;
  }
  return Sampling::All;
}

void LayerPrices::addForm(const Declaration& declaration, const Form& form, bool hasCotangent,
                          ParallelizationCost& cost) const {
  const KernelCost kernels =
      kernelCost(declaration, form, hasCotangent, elementBytes_, rates_.kernels);
  cost.kernels.forward += kernels.applySeconds;
  cost.kernels.backward += trains_ ? kernels.adjointSeconds : 0;
  if (declaration.takesLists() || form.links || declaration.movesInKernels())
    addListed(declaration, form, hasCotangent, cost);
}

void LayerPrices::addListed(const Declaration& declaration, const Form& form, bool hasCotangent,
                            ParallelizationCost& cost) const {
  const bool hasBackward = trains_ && hasCotangent;
  const MapList list = declaration.maps(form, declaration.storageLayouts(form));
  for (const KernelEntry& kernel : list.kernels())
    for (const OwnMove& move : kernel.moves) {
      const OperatorEntry& op = list.operators()[move.op];
      cost.conversions.push_back({&LayerTerms::forward, op.from, op.to, move.inApply});
      if (hasBackward)
        cost.conversions.push_back({&LayerTerms::backward, op.from, op.to, move.inAdjoint});
    }
  for (const OperatorEntry& op : list.operators()) {
    if (!goesByLists(op))
      continue;
    cost.listed.push_back({&LayerTerms::forward, op, /*adjoint=*/false});
    if (hasBackward)
      cost.listed.push_back({&LayerTerms::backward, op, /*adjoint=*/true});
  }
}

void LayerPrices::addConversion(const Layout& from, const Layout& to, bool hasCotangent,
                                ParallelizationCost& cost) const {
  cost.conversions.push_back({&LayerTerms::forward, from, to});
  if (trains_ && hasCotangent)
    cost.conversions.push_back({&LayerTerms::backward, to.dual(), from.dual()});
}

void LayerPrices::addGradient(const Layout& use, ParallelizationCost& cost) const {
  if (trains_)
    cost.conversions.push_back({&LayerTerms::gradients, use.dual(), use});
}

LayerTerms LayerPrices::terms(ParallelizationCost& cost, Sampling sampling) const {
  const auto [entry, isNew] = cost.seconds.try_emplace(sampling, cost.kernels);
  LayerTerms& terms = entry->second;
  if (isNew) {
    for (const ParallelizationCost::Conversion& one : cost.conversions)
      terms.*one.term +=
          double(one.times) * conversions_.seconds(one.from, one.to, elementBytes_, sampling);
    for (const ParallelizationCost::ListedMove& one : cost.listed)
      terms.*one.term += priceOfLists(one.op, one.adjoint, elementBytes_, rates_.links, sampling);
  }
  return terms;
}

} // namespace tenon
