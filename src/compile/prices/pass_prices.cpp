// SPDX-License-Identifier: BSD-2-Clause
// Lists the moves of a pass and prices its steps (pass_prices.hpp). The kernels of a layer are
// priced together (kernel_cost.hpp), once for each of these that the pass contains:
//
//   Apply of the layer           a step Forward, or one that applies its function as an epilogue
//   its adjoint                  a step Adjoint or AdjointParameters
//   Apply again for the adjoint  a step Forward that recomputes
//
// A container that recomputes as a whole is one kernel of the list. Its moves and seconds are those
// of the passes within it: of Apply, and for the adjoint of Apply again and of the adjoint.
#include "compile/prices/pass_prices.hpp"

#include "compile/prices/listed_moves.hpp"

#include <algorithm>
#include <numeric>

namespace tenon {

namespace {

// Whether a step runs a kernel of a layer.
bool runsKernel(const MapList& list, const Step& step) {
  return step.map >= 0 && list.maps()[step.map].kind == Map::Kind::Kernel &&
         (step.what == Do::Forward || step.what == Do::Adjoint ||
          step.what == Do::AdjointParameters);
}

bool computesCotangents(const Step& step) {
  return step.what == Do::Adjoint &&
         std::ranges::any_of(step.writes, [](ValueId v) { return v != kNoValue; });
}

// What the kernels of a layer compute in a pass: Apply, Apply again for a recomputation, and the
// adjoint, which has cotangents if it computes those of inputs, not only gradients of parameters.
struct KernelRuns {
  bool applies = false, appliesAgain = false, derives = false, hasCotangent = false;
};

// Returns what runs for each node. An epilogue counts for the node of its own layer.
std::vector<KernelRuns> runsOf(const MapList& list, const Pass& pass) {
  std::vector<KernelRuns> runs(std::max(1, list.nodes()));
  for (const Step& step : pass.steps) {
    if (!runsKernel(list, step))
      continue;
    for (const int map : {step.map, step.epilogue})
      if (map >= 0) {
        KernelRuns& of = runs[list.maps()[map].node];
        of.applies |= step.what == Do::Forward && !step.recomputed;
        of.appliesAgain |= step.what == Do::Forward && step.recomputed;
        of.derives |= step.what != Do::Forward;
        of.hasCotangent |= computesCotangents(step);
      }
  }
  return runs;
}

// The passes that the kernel of a container runs in a step of the network around it, for the same
// inputs. When Apply runs again, the parameters have been converted to their use already.
std::vector<Pass> passesWithin(const CompiledNetwork& segment, const Step& step) {
  const MapList& list = segment.list();
  const bool isApply = step.what == Do::Forward;
  std::vector<Pass> passes = {applyPass(list, segment.order(), {}, /*keeps=*/!isApply)};
  if (isApply)
    return passes;
  std::erase_if(passes.front().steps, [&](const Step& one) {
    return one.map >= 0 && list.maps()[one.map].kind == Map::Kind::Source;
  });
  Chosen wanted;
  for (const ValueId v : step.writes)
    wanted.push_back(v != kNoValue);
  passes.push_back(adjointPass(list, wanted, segment.order()));
  return passes;
}

class MoveListing {
public:
  // Without a network, no kernel is a container.
  MoveListing(const CompiledNetwork* network, const MapList& list)
      : network_(network), list_(list) {}

  void add(const Step& step) {
    if (step.map < 0)
      return;
    const Map& map = list_.maps()[step.map];
    // An operator that begins and ends counts at its begin.
    const bool begins = step.what == Do::Begin || step.what == Do::Apply;
    if (map.kind == Map::Kind::Operator && begins)
      moves_.push_back(
          {.op = list_.operators()[map.object], .node = map.node, .adjoint = step.adjoint});
    else if (map.kind == Map::Kind::Source && begins)
      addSource(list_.sources()[map.object], map.node);
    else if (runsKernel(list_, step))
      addKernel(list_.kernels()[map.object], map.node, step);
  }
  std::vector<PassMove> take() { return std::move(moves_); }

private:
  void addSource(const SourceEntry& source, int node) {
    if (source.storage && !haveSameMemory(*source.storage, source.use))
      moves_.push_back(
          {.op = {.kind = OperatorKind::Conversion, .from = *source.storage, .to = source.use},
           .node = node});
  }

  void addKernel(const KernelEntry& kernel, int node, const Step& step) {
    if (network_ && network_->nodes()[node].segment)
      return addWithin(*network_->nodes()[node].segment, node, step);
    for (const OwnMove& move : kernel.moves) {
      const Index times = step.what == Do::Forward   ? move.inApply
                          : computesCotangents(step) ? move.inAdjoint
                                                     : 0;
      if (times > 0)
        moves_.push_back(
            {.op = list_.operators()[move.op], .node = node, .times = times, .inKernel = true});
    }
  }

  void addWithin(const CompiledNetwork& segment, int node, const Step& step) {
    for (const Pass& pass : passesWithin(segment, step))
      for (PassMove& move : movesOf(segment, segment.list(), pass)) {
        move.node = node;
        move.inKernel = true;
        moves_.push_back(std::move(move));
      }
  }

  const CompiledNetwork* network_;
  const MapList& list_;
  std::vector<PassMove> moves_;
};

std::vector<PassMove> listed(MoveListing listing, const Pass& pass) {
  for (const Step& step : pass.steps)
    listing.add(step);
  return listing.take();
}

} // namespace

std::vector<PassMove> movesOf(const CompiledNetwork& network, const MapList& list,
                              const Pass& pass) {
  return listed({&network, list}, pass);
}

std::vector<PassMove> movesOf(const MapList& list, const Pass& pass) {
  return listed({nullptr, list}, pass);
}

Movement movementOf(const OperatorEntry& op, Index elementBytes, const MovementTarget& target) {
  return op.kind == OperatorKind::Conversion ? movementOf(op.from, op.to, elementBytes, target)
                                             : exchangeOf(op.from, op.to, elementBytes);
}

Traffic sentFor(const PassMove& move, int rank, bool isOwn, Index elementBytes,
                const MovementTarget& target) {
  const OperatorEntry& op = move.op;
  if (goesByLists(op))
    return (op.map && !isOwn ? mostTraffic(op, move.adjoint)
                             : listedTraffic(op, move.adjoint, rank))
        .sent;
  // Layouts with the same memory, as in a sum of inputs, need no messages.
  if (op.isLocal() || haveSameMemory(op.from, op.to))
    return {};
  return movementOf(op, elementBytes, target)
      .sent(rank, move.adjoint ? Role::Target : Role::Source);
}

double operatorSeconds(const OperatorEntry& op, bool adjoint, Index elementBytes,
                       ConversionPrices& conversions, Sampling sampling) {
  const LinkRates& links = conversions.links();
  if (op.isLocal())
    return 0;
  if (goesByLists(op))
    return priceOfLists(op, adjoint, elementBytes, links, sampling);
  // The adjoint of from -> to is to* -> from*.
  const Layout from = adjoint ? op.to.dual() : op.from, to = adjoint ? op.from.dual() : op.to;
  // Layouts with the same memory, as in a sum of inputs: the price is that of copying.
  return op.kind == OperatorKind::Conversion && !haveSameMemory(from, to)
             ? conversions.seconds(from, to, elementBytes, sampling)
             : priceOfExchange(from, to, elementBytes, links, sampling).seconds;
}

double PassPrices::seconds(const OperatorEntry& op, bool adjoint) const {
  return operatorSeconds(op, adjoint, network_.network().elementBytes, conversions_, sampling_);
}

std::vector<NodePrice> PassPrices::of(const MapList& list, const Pass& pass) const {
  std::vector<NodePrice> prices(std::max(1, list.nodes()));
  addKernels(list, pass, prices);
  for (const PassMove& move : movesOf(network_, list, pass)) {
    if (move.inKernel && network_.nodes()[move.node].segment)
      continue; // the price of a container includes its moves
    NodePrice& price = prices[move.node];
    (move.inKernel ? price.kernels : price.moves) +=
        static_cast<double>(move.times) * seconds(move.op, move.adjoint);
  }
  return prices;
}

double PassPrices::seconds(const MapList& list, const Pass& pass) const {
  const std::vector<NodePrice> prices = of(list, pass);
  return std::accumulate(prices.begin(), prices.end(), 0.0,
                         [](double sum, const NodePrice& price) { return sum + price.sum(); });
}

void PassPrices::addKernels(const MapList& list, const Pass& pass,
                            std::vector<NodePrice>& prices) const {
  for (const Step& step : pass.steps)
    if (runsKernel(list, step))
      if (const int node = list.maps()[step.map].node; network_.nodes()[node].segment)
        prices[node].kernels += segmentSeconds(*network_.nodes()[node].segment, step);
  const std::vector<KernelRuns> runs = runsOf(list, pass);
  for (std::size_t n = 0; n < runs.size(); ++n) {
    const KernelRuns& of = runs[n];
    if (!(of.applies || of.appliesAgain || of.derives) || network_.nodes()[n].segment)
      continue;
    const KernelCost cost =
        kernelCost(*network_.network().nodes[n].type, network_.nodes()[n].form.value(),
                   of.hasCotangent, network_.network().elementBytes, kernels_);
    prices[n].kernels = (of.applies ? cost.applySeconds : 0) +
                        (of.appliesAgain ? cost.applySeconds : 0) +
                        (of.derives ? cost.adjointSeconds : 0);
    if (!of.appliesAgain)
      prices[n].work = of.applies ? cost.apply : cost.adjoint;
  }
}

double PassPrices::segmentSeconds(const CompiledNetwork& segment, const Step& step) const {
  const PassPrices within(segment, conversions_, kernels_, sampling_);
  double sum = 0;
  for (const Pass& pass : passesWithin(segment, step))
    sum += within.seconds(segment.list(), pass);
  return sum;
}

} // namespace tenon
