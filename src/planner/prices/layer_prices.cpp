// SPDX-License-Identifier: BSD-2-Clause
// Adds up the seconds of a layer under a parallelization (layer_prices.hpp). Kernels are priced
// when a form is added, since forms are not stored; conversions when their seconds are requested,
// since the search requests precise prices of few parallelizations.
#include "planner/prices/layer_prices.hpp"

#include "compile/prices/listed_moves.hpp"

#include <algorithm>
#include <functional>

namespace tenon {

namespace {

// Returns, by map, whether it moves data within a layer: an operator, or a kernel that applies
// operators itself. The operators that convert an input to its use are moves of the network, but
// for those that follow lists.
std::vector<bool> movesWithin(const MapList& list) {
  std::vector<bool> isInput(list.values().size()), isWithin;
  for (const ValueId x : list.inputs())
    isInput[x] = true;
  for (const Map& map : list.maps()) {
    const bool convertsInput =
        map.x.size() == 1 && isInput[map.x.front()] && !std::ranges::count(list.outputs(), map.y);
    bool moves = false;
    if (map.kind == Map::Kind::Operator) {
      const OperatorEntry& op = list.operators()[map.object];
      moves = goesByLists(op) || !(convertsInput || op.isLocal() || haveSameMemory(op.from, op.to));
    } else if (map.kind == Map::Kind::Kernel)
      moves = !list.kernels()[map.object].moves.empty();
    isWithin.push_back(moves);
    if (convertsInput && map.kind != Map::Kind::Kernel)
      isInput[map.y] = true;
  }
  return isWithin;
}

} // namespace

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
  const MapList list = declaration.maps(form, declaration.storageLayouts(form));
  addMovesWithin(list, hasCotangent, cost);
}

// The steps are those of the layer by itself, less the moves that are the network's.
void LayerPrices::addMovesWithin(const MapList& list, bool hasCotangent,
                                 ParallelizationCost& cost) const {
  const std::vector<bool> isWithin = movesWithin(list);
  if (std::ranges::none_of(isWithin, std::identity{}))
    return;
  const auto add = [&](double LayerTerms::*term, Pass pass) {
    std::erase_if(pass.steps,
                  [&](const Step& step) { return step.map < 0 || !isWithin[step.map]; });
    for (PassMove& move : movesOf(list, pass))
      cost.moves.push_back(
          {.term = term, .op = std::move(move.op), .adjoint = move.adjoint, .times = move.times});
  };
  const InInference infers(std::max(1, list.nodes()), !trains_);
  add(&LayerTerms::forward, applyPass(list, Order::Listed, infers, /*keeps=*/trains_));
  if (trains_)
    add(&LayerTerms::backward,
        adjointPass(list, Chosen(list.inputs().size(), hasCotangent), Order::Listed, infers));
}

void LayerPrices::addConversion(const Layout& from, const Layout& to, bool hasCotangent,
                                ParallelizationCost& cost) const {
  if (haveSameMemory(from, to))
    return;
  const OperatorEntry op{.kind = OperatorKind::Conversion, .from = from, .to = to};
  cost.moves.push_back({.term = &LayerTerms::forward, .op = op});
  if (trains_ && hasCotangent)
    cost.moves.push_back({.term = &LayerTerms::backward, .op = op, .adjoint = true});
}

void LayerPrices::addGradient(const Layout& use, ParallelizationCost& cost) const {
  if (trains_ && !haveSameMemory(use.dual(), use))
    cost.moves.push_back({.term = &LayerTerms::gradients,
                          .op = {.kind = OperatorKind::Conversion, .from = use.dual(), .to = use}});
}

LayerTerms LayerPrices::terms(ParallelizationCost& cost, Sampling sampling) const {
  const auto [entry, isNew] = cost.seconds.try_emplace(sampling, cost.kernels);
  LayerTerms& terms = entry->second;
  if (isNew)
    for (const ParallelizationCost::Move& one : cost.moves)
      terms.*one.term += double(one.times) * operatorSeconds(one.op, one.adjoint, elementBytes_,
                                                             conversions_, sampling);
  return terms;
}

} // namespace tenon
