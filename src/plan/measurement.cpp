// SPDX-License-Identifier: BSD-2-Clause
// Predicts the costs of the phases of each layer of a network, by the rates of a machine, and
// measures them (measurement.hpp). The phases are kernels and communication of Apply and of the
// adjoint, and the reduction of gradients. plan_report.cpp prints both side by side.
//
// costsOf() predicts, for one rank. It follows the steps of the network that run, not the plan, and
// so includes communication that the plan did not foresee, such as a value that is moved twice.
// Measurement is an observer of passes: the network calls it at the begin of each Apply and adjoint
// and after each step, with the step's time, and it stores the last passes in ring buffers.
#include "plan/measurement.hpp"

#include "geometry/layout/layout.hpp"
#include "linop/exchange/make_conversion.hpp"
#include "planner/prices/conversion_prices.hpp"
#include "planner/prices/listed_moves.hpp"
#include "sys/data_type.hpp"
#include "sys/log/log.hpp"

#include <algorithm>
#include <set>

namespace tenon {

namespace {

// The predicted costs of one rank by node and phase. A node is a layer in the map list of the
// network; the price of a conversion or exchange is that of its slowest rank, and its messages and
// bytes are those that this rank sends.
class Costs {
public:
  Costs(const Layer& network, int rank, const OwnRates& rates)
      : maps_(network.maps(network.inputLayouts())), rank_(rank),
        hasLists_(rank == network.comm()->rank()), elementBytes_(dataTypeSize(network.dataType())),
        rates_(rates), conversions_(rates.links, network.comm()->size()),
        target_(movementTargetOf(network)), assignment_(network.assignment()),
        byNode_(std::max(1, list().nodes())) {}

  // Adds the moves of a pass. The step that ends an operator is not counted, since its begin was.
  void addMoves(const Pass& pass, Phase phase) {
    for (const Step& step : pass.steps) {
      if (step.map < 0 || (step.what != Do::Begin && step.what != Do::Apply))
        continue;
      const Map& map = list().maps()[step.map];
      if (map.kind == Map::Kind::Operator)
        at(map.node, phase) += costOf(list().operators()[map.object], step.adjoint);
      else if (const SourceEntry& source = list().sources()[map.object]; source.storage)
        at(map.node, phase) += conversionIfAny(*source.storage, source.use, /*adjoint=*/false);
    }
  }

  void addGradients() {
    // Several kernels, or several nodes, can use one parameter, which is reduced once.
    std::set<const Parameter*> counted;
    for (const Map& map : list().maps()) {
      if (map.kind != Map::Kind::Kernel)
        continue;
      for (const auto& use : *maps_.kernel(map.object).uses) {
        if (use->isFrozen() || !counted.insert(&use->parameter()).second)
          continue;
        const Parameter& parameter = use->parameter();
        // First the partial sums of each use are converted to the storage layout, the adjoint of
        // the conversion to the use; then the copies are reduced.
        at(map.node, Phase::Gradients) +=
            conversionIfAny(parameter.storage(), use->layout(), /*adjoint=*/true);
        if (const Layout* reduced = parameter.reducedAs())
          at(map.node, Phase::Gradients) +=
              conversionIfAny(reduced->dual(), *reduced, /*adjoint=*/false);
      }
    }
  }

  // Adds the kernels of a node. `wantsInput`: the adjoint computes the cotangent of its input;
  // `runsAgain`: it runs a second time for the adjoint, instead of saving values.
  void addKernels(int node, const Layer& layer, bool wantsInput, bool runsAgain) {
    const auto computes = [&](const Map& map) {
      return map.node == node && map.kind != Map::Kind::Operator;
    };
    // A repartition, or a sum of inputs, has operators only.
    if (std::ranges::none_of(list().maps(), computes))
      return;
    const KernelCost cost = kernelCost(layer.declaration(), layer.formIn(assignment_), wantsInput,
                                       elementBytes_, rates_.kernels);
    at(node, Phase::ApplyKernel) = {.seconds = cost.applySeconds, .work = cost.apply};
    // The total time of two passes does not determine the rate of either.
    at(node, Phase::AdjointKernel) =
        runsAgain ? PhaseCost{.seconds = cost.adjointSeconds + cost.applySeconds}
                  : PhaseCost{.seconds = cost.adjointSeconds, .work = cost.adjoint};
    for (const Map& map : list().maps())
      if (computes(map) && map.kind == Map::Kind::Kernel)
        addOwnMoves(map, wantsInput);
  }

  // Communication within a kernel counts as part of the kernel, as in the measurement.
  void addOwnMoves(const Map& map, bool wantsInput) {
    for (const OwnMove& move : list().kernels()[map.object].moves) {
      const PhaseCost once = costOf(list().operators()[move.op], /*adjoint=*/false);
      at(map.node, Phase::ApplyKernel) += times(once, move.inApply);
      if (wantsInput)
        at(map.node, Phase::AdjointKernel) += times(once, move.inAdjoint);
    }
  }

  const MapList& list() const { return maps_.list(); }
  std::vector<LayerCost> take() { return std::move(byNode_); }

private:
  PhaseCost& at(int node, Phase phase) { return byNode_[node][static_cast<int>(phase)]; }

  static PhaseCost times(const PhaseCost& once, Index count) {
    return {.seconds = double(count) * once.seconds,
            .messages = count * once.messages,
            .bytes = count * once.bytes};
  }
  // Layouts with the same memory need no conversion.
  PhaseCost conversionIfAny(const Layout& from, const Layout& to, bool adjoint) {
    return haveSameMemory(from, to) ? PhaseCost() : conversion(from, to, adjoint);
  }
  PhaseCost conversion(const Layout& from, const Layout& to, bool adjoint) {
    return priced(from, to, adjoint, movementOf(from, to, elementBytes_, target_));
  }
  PhaseCost costOf(const OperatorEntry& op, bool adjoint) {
    if (op.isLocal())
      return {};
    if (goesByLists(op))
      return costOfLists(op, adjoint);
    // A sum of inputs, or a copy: it sends no messages, but takes time.
    if (haveSameMemory(op.from, op.to))
      return {.seconds =
                  priceOfExchange(op.from, op.to, elementBytes_, rates_.links, Sampling::First)
                      .seconds};
    if (op.kind == OperatorKind::Conversion)
      return conversion(op.from, op.to, adjoint);
    return priced(op.from, op.to, adjoint, exchangeOf(op.from, op.to, elementBytes_));
  }
  PhaseCost costOfLists(const OperatorEntry& op, bool adjoint) const {
    const ListedTraffic traffic =
        op.map && !hasLists_ ? mostTraffic(op, adjoint) : listedTraffic(op, adjoint, rank_);
    return {.seconds = priceOfLists(traffic, op.from.grid(), elementBytes_, rates_.links),
            .messages = traffic.sent.messages,
            .bytes = traffic.sent.elements * elementBytes_};
  }
  PhaseCost priced(const Layout& from, const Layout& to, bool adjoint, const Movement& movement) {
    const Traffic sent = movement.sent(rank_, adjoint ? Role::Target : Role::Source);
    // The adjoint of from -> to is to* -> from*.
    const Layout begin = adjoint ? to.dual() : from, end = adjoint ? from.dual() : to;
    return {.seconds = conversions_.seconds(begin, end, elementBytes_, Sampling::Sampled),
            .messages = sent.messages,
            .bytes = sent.elements * elementBytes_};
  }

  const BoundMaps& maps_;
  int rank_;
  bool hasLists_; // of index maps: only those of this rank are known
  Index elementBytes_;
  const OwnRates& rates_;
  ConversionPrices conversions_;
  MovementTarget target_;
  AssignmentPtr assignment_; // of the network
  std::vector<LayerCost> byNode_;
};

// The nodes that compute cotangents of their inputs: those with a parameter, or a wanted input,
// before them.
std::vector<bool> wantsOf(const MapList& list, const Pass& adjoint, int nodes) {
  std::vector<bool> wants(nodes, false);
  for (const Step& step : adjoint.steps)
    if (step.map >= 0 && step.what == Do::Adjoint)
      for (ValueId v : step.writes)
        if (v != kNoValue)
          wants[list.maps()[step.map].node] = true;
  return wants;
}

} // namespace

const char* phaseName(Phase phase) {
  static constexpr const char* kNames[kPhases] = {"apply kernel", "apply move", "adjoint kernel",
                                                  "adjoint move", "gradients"};
  return kNames[static_cast<int>(phase)];
}

PhaseCost& operator+=(PhaseCost& sum, const PhaseCost& more) {
  sum.seconds += more.seconds;
  sum.messages += more.messages;
  sum.bytes += more.bytes;
  return sum;
}

PhaseCost sumOf(const LayerCost& cost) {
  PhaseCost sum;
  for (const PhaseCost& phase : cost)
    sum += phase;
  return sum;
}

MovementTarget movementTargetOf(const Layer& network) {
  return MovementPolicy::fromOptions(network.space()).on(*network.comm());
}

std::vector<LayerCost> costsOf(const Layer& network, const std::vector<const Layer*>& nodes,
                               int rank, bool wanted, const OwnRates& rates) {
  Costs costs(network, rank, rates);
  const Order order = network.setup(network.inputLayouts()).order();
  const Pass adjoint =
      adjointPass(costs.list(), Chosen(costs.list().inputs().size(), wanted), order);
  costs.addMoves(applyPass(costs.list(), order), Phase::ApplyMove);
  costs.addMoves(adjoint, Phase::AdjointMove);
  costs.addGradients();
  const std::vector<bool> wants = wantsOf(costs.list(), adjoint, static_cast<int>(nodes.size()));
  const std::vector<bool> again = recomputedNodes(costs.list(), adjoint);
  for (std::size_t node = 0; node < nodes.size(); ++node)
    costs.addKernels(static_cast<int>(node), *nodes[node], wants[node], again[node]);
  return costs.take();
}

namespace {

void add(OpenScope& sum, const OpenScope& took) {
  sum.seconds += took.seconds;
  sum.messages += took.messages;
  sum.bytes += took.bytes;
}

} // namespace

Measurement::Measurement(const BoundMaps& maps, const std::vector<const Layer*>& nodes)
    : maps_(maps), apply_(nodes.size()), adjoint_(nodes.size()), gradients_(nodes.size()) {
  for (std::size_t node = 0; node < nodes.size(); ++node)
    for (const Ref<Parameter>& parameter : nodes[node]->ownParameters())
      parameters_.emplace_back(parameter.get(), static_cast<int>(node));
}

void Measurement::Ring::begin() noexcept {
  for (std::size_t node = 0; node < nodes; ++node)
    // The new pass replaces the oldest one.
    at(begun, static_cast<int>(node)) = {};
  ++begun;
}

void Measurement::begins(const BoundMaps& maps, const Pass& pass, bool) {
  // Passes of another set-up have other nodes, tangents are not part of a plan, and without the log
  // there are no times.
  running_ = &maps != &maps_ || pass.ofTangents || !logEnabled() ? nullptr : &pass;
  if (!running_)
    return;
  const bool isAdjoint = std::any_of(pass.steps.begin(), pass.steps.end(),
                                     [](const Step& step) { return step.adjoint; });
  if (isAdjoint)
    wantedInput_ = pass.inputs.front() != kNoValue;
  (isAdjoint ? adjoint_ : apply_).begin();
}

void Measurement::ran(std::size_t number, const OpenScope& took, const OpenScope& function) {
  if (!running_ || running_->steps[number].map < 0)
    return;
  const Step& step = running_->steps[number];
  Ring& ring = step.adjoint || step.recomputed ? adjoint_ : apply_;
  if (ring.begun == 0)
    return;
  // The time of an operator is that of its begin and its end; steps between them belong to other
  // nodes.
  const bool isMove = step.what == Do::Begin || step.what == Do::End || step.what == Do::Apply;
  const auto sumsOf = [&](int map) -> Sums& {
    return ring.at(ring.begun - 1, maps_.list().maps()[map].node);
  };
  add(isMove ? sumsOf(step.map).move : sumsOf(step.map).kernel, took);
  if (step.epilogue >= 0)
    add(sumsOf(step.epilogue).kernel, function);
}

// Adds the time of the reduction of a parameter. Parameters are reported one after the other, so
// the network's first parameter begins a new step of the optimizer.
void Measurement::reduced(const Parameter& parameter, const OpenScope& took) {
  for (const auto& [known, node] : parameters_) {
    if (known != &parameter)
      continue;
    if (known == parameters_.front().first)
      gradients_.begin();
    if (gradients_.begun > 0)
      add(gradients_.at(gradients_.begun - 1, node).move, took);
    return;
  }
}

int Measurement::passes() const {
  return std::min({apply_.begun, adjoint_.begun, kPasses});
}

const Measurement::Ring& Measurement::ringOf(Phase phase) const {
  if (phase == Phase::Gradients)
    return gradients_;
  return phase == Phase::ApplyKernel || phase == Phase::ApplyMove ? apply_ : adjoint_;
}

PhaseCost Measurement::of(int node, Phase phase) const {
  const bool isKernel = phase == Phase::ApplyKernel || phase == Phase::AdjointKernel;
  const Ring& ring = ringOf(phase);
  const int stored = std::min(ring.begun, kPasses);
  if (stored == 0)
    return {};
  const auto measuredIn = [&](int pass) -> const OpenScope& {
    const Sums& sums = ring.at(pass, node);
    return isKernel ? sums.kernel : sums.move;
  };
  std::vector<double> seconds;
  for (int pass = 0; pass < stored; ++pass)
    seconds.push_back(measuredIn(pass).seconds);
  // The median: a pass that the machine disturbed is not representative of the layer.
  std::nth_element(seconds.begin(), seconds.begin() + stored / 2, seconds.end());
  const OpenScope& last = measuredIn(ring.begun - 1);
  return {.seconds = seconds[stored / 2], .messages = last.messages, .bytes = last.bytes};
}

} // namespace tenon
