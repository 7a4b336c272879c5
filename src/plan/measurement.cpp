// SPDX-License-Identifier: BSD-2-Clause
// Predicts the costs of the phases of each layer of a network, by the rates of a machine, and
// measures them (measurement.hpp). The phases are kernels and communication of Apply and of the
// adjoint, and the reduction of gradients. plan_report.cpp prints both side by side.
//
// costsOf() predicts, for one rank, by the prices of the passes that run
// (compile/prices/pass_prices.hpp), and so includes communication that the plan did not foresee,
// such as a value that is moved twice.
// Measurement is an observer of passes: the network calls it at the begin of each Apply and adjoint
// and after each step, with the step's time, and it stores the last passes in ring buffers.
#include "plan/measurement.hpp"

#include "compile/prices/pass_prices.hpp"
#include "linop/exchange/make_conversion.hpp"
#include "sys/log/log.hpp"

#include <algorithm>
#include <set>

namespace tenon {

namespace {

// The predicted costs of one rank by node and phase. A node is a layer in the map list of the
// network; seconds are those of the slowest rank, and messages and bytes those that this rank
// sends.
class Costs {
public:
  Costs(const Layer& network, int rank, const OwnRates& rates)
      : setup_(network.setup(network.inputLayouts())), rank_(rank),
        isOwn_(rank == network.comm()->rank()), target_(movementTargetOf(network)),
        conversions_(rates.links, network.comm()->size()),
        prices_(compiled(), conversions_, rates.kernels, Sampling::Sampled),
        byNode_(std::max(1, list().nodes())) {}

  void addPass(const Pass& pass, Phase kernel, Phase move) {
    const std::vector<NodePrice> prices = prices_.of(list(), pass);
    for (std::size_t n = 0; n < prices.size(); ++n) {
      const int node = static_cast<int>(n);
      at(node, kernel).seconds += prices[n].kernels;
      at(node, kernel).work = prices[n].work;
      at(node, move).seconds += prices[n].moves;
    }
    for (const PassMove& one : movesOf(compiled(), list(), pass))
      addSent(one, at(one.node, one.inKernel ? kernel : move));
  }

  void addGradients() {
    // Several kernels, or several nodes, can use one parameter, which is reduced once.
    std::set<const Parameter*> counted;
    for (const Map& map : list().maps()) {
      if (map.kind != Map::Kind::Kernel)
        continue;
      for (const auto& use : *setup_.maps().kernel(map.object).uses) {
        if (use->isFrozen() || !counted.insert(&use->parameter()).second)
          continue;
        const Parameter& parameter = use->parameter();
        // First the partial sums of each use are converted to the storage layout, the adjoint of
        // the conversion to the use; then the copies are reduced.
        addGradient(parameter.storage(), use->layout(), /*adjoint=*/true, map.node);
        if (const Layout* reduced = parameter.reducedAs())
          addGradient(reduced->dual(), *reduced, /*adjoint=*/false, map.node);
      }
    }
  }

  const MapList& list() const { return compiled().list(); }
  Order order() const { return compiled().order(); }
  std::vector<LayerCost> take() { return std::move(byNode_); }

private:
  const CompiledNetwork& compiled() const { return setup_.network(); }
  Index elementBytes() const { return compiled().network().elementBytes; }
  PhaseCost& at(int node, Phase phase) { return byNode_[node][static_cast<int>(phase)]; }

  // Layouts with the same memory need no conversion.
  void addGradient(const Layout& from, const Layout& to, bool adjoint, int node) {
    if (haveSameMemory(from, to))
      return;
    const PassMove conversion{.op = {.kind = OperatorKind::Conversion, .from = from, .to = to},
                              .adjoint = adjoint};
    PhaseCost& cost = at(node, Phase::Gradients);
    cost.seconds += prices_.seconds(conversion.op, adjoint);
    addSent(conversion, cost);
  }

  void addSent(const PassMove& move, PhaseCost& cost) const {
    const Traffic sent = sentFor(move, rank_, isOwn_, elementBytes(), target_);
    cost.messages += move.times * sent.messages;
    cost.bytes += move.times * sent.elements * elementBytes();
  }

  const Setup& setup_;
  int rank_;
  bool isOwn_;
  MovementTarget target_;
  ConversionPrices conversions_;
  PassPrices prices_;
  std::vector<LayerCost> byNode_;
};

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

std::vector<LayerCost> costsOf(const Layer& network, int rank, bool wanted, const OwnRates& rates) {
  Costs costs(network, rank, rates);
  const Chosen inputs(costs.list().inputs().size(), wanted);
  costs.addPass(applyPass(costs.list(), costs.order()), Phase::ApplyKernel, Phase::ApplyMove);
  costs.addPass(adjointPass(costs.list(), inputs, costs.order()), Phase::AdjointKernel,
                Phase::AdjointMove);
  costs.addGradients();
  return costs.take();
}

namespace {

void add(ScopeTotals& sum, const ScopeTotals& took) {
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

void Measurement::ran(std::size_t number, const ScopeTotals& took, const ScopeTotals& function) {
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
void Measurement::reduced(const Parameter& parameter, const ScopeTotals& took) {
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
  const auto measuredIn = [&](int pass) -> const ScopeTotals& {
    const Sums& sums = ring.at(pass, node);
    return isKernel ? sums.kernel : sums.move;
  };
  std::vector<double> seconds;
  for (int pass = 0; pass < stored; ++pass)
    seconds.push_back(measuredIn(pass).seconds);
  // The median: a pass that the machine disturbed is not representative of the layer.
  std::nth_element(seconds.begin(), seconds.begin() + stored / 2, seconds.end());
  const ScopeTotals& last = measuredIn(ring.begun - 1);
  return {.seconds = seconds[stored / 2], .messages = last.messages, .bytes = last.bytes};
}

} // namespace tenon
