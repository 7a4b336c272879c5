// SPDX-License-Identifier: BSD-2-Clause
// The memory of a plan per process. During the search it is a sum over layers (layer_bytes.hpp),
// which needs only each layer's own parallelization. Buffers that layers share depend on the
// parallelizations of all layers. The plan that was found is therefore compiled like a run, and its
// memory is counted as in a run (RunMemory). Compiled networks also serve two choices that are made
// for the whole plan after the search:
//
//   recomputedWithin()   which layers compute their output again for the adjoint, within a limit
//   sharedHalos()        which layers with windows share a halo exchange
//
// All functions are evaluated on the rank that searches, for any rank.
#include "planner/prices/own_model.hpp"

#include "compile/network/assignment.hpp"
#include "declaration/core/pieces.hpp"
#include "declaration/core/types.hpp"
#include "planner/prices/recomputation.hpp"
#include "planner/search/halo_groups.hpp"

#include <algorithm>
#include <iterator>
#include <map>

namespace tenon {

// Upper bound of the shared memory of passes: for each layer, its temporary arrays plus the outputs
// of earlier layers that later layers still need.
double OwnModel::temporaryBytes(const std::vector<int>& parallelizations) const {
  double most = 0;
  for (int layer = 0; layer < plannedLayers(); ++layer) {
    double waiting = 0;
    for (int writer = 0; writer < layer; ++writer) {
      const ParallelizationCost& writerCost = cost(writer, parallelizations[writer]);
      for (std::size_t output = 0; output < writerCost.outputBytes.size(); ++output)
        if (std::ranges::any_of(network_.moves, [&](const DeclaredMove& move) {
              return move.from == writer && move.output == static_cast<int>(output) &&
                     move.to > layer;
            }))
          waiting += writerCost.outputBytes[output];
    }
    most = std::max(most, waiting + cost(layer, parallelizations[layer]).temporaryBytes);
  }
  return most;
}

// An input without a pinned layout has the layout in which its first reader uses it.
Layouts OwnModel::runInputs(const std::vector<int>& parallelizations) const {
  int count = 0;
  for (const DeclaredMove& read : network_.reads)
    count = std::max(count, read.source + 1);
  std::vector<std::optional<Layout>> pinned = {task_.input};
  pinned.insert(pinned.end(), task_.furtherInputs.begin(), task_.furtherInputs.end());
  pinned.resize(std::max<std::size_t>(pinned.size(), count));
  Layouts inputs;
  for (int i = 0; i < count; ++i) {
    const auto first = std::ranges::find(network_.reads, i, &DeclaredMove::source);
    inputs.push_back(pinned[i] ? *pinned[i]
                               : parallelizedLayer(first->to, parallelizations[first->to])
                                     .uses[first->input]
                                     .withoutHalos());
  }
  return inputs;
}

// The choice for a layer with this parallelization.
NodeChoice OwnModel::runChoice(int layer, int parallelization) const {
  const ParallelizedLayer& parallelized = parallelizedLayer(layer, parallelization);
  const Kind& kind = kinds_[kindOf_[layer]];
  NodeChoice choice{.labels = parallelized.signature, .uses = {}, .cuts = {}};
  if (existing_.followsLists(kind, parallelization))
    choice.uses = kind.native->uses;
  else
    for (const Layout& use : parallelized.uses)
      choice.uses.push_back(use.withoutHalos());
  if (parallelized.isBalanced)
    choice.cuts = OutputCuts::Balanced;
  return choice;
}

// The nodes that a node reads; -1 - i for input i of the network.
std::vector<int> OwnModel::runReads(int node) const {
  const auto nodeOf = [&](int layer, int output) {
    return static_cast<int>(std::ranges::find_if(network_.nodes,
                                                 [&](const DeclaredNode& one) {
                                                   return one.layer == layer &&
                                                          one.output == output;
                                                 }) -
                            network_.nodes.begin());
  };
  const int layer = network_.nodes[node].layer, output = network_.nodes[node].output;
  const DeclaredLayer& declared = network_.layers[layer];
  if (output > 0)
    return {nodeOf(layer, declared.dependents[output - 1].reads)};
  std::vector<int> reads(declared.inputs.size());
  for (const DeclaredMove& read : network_.reads)
    if (read.to == layer)
      reads[read.input] = -1 - read.source;
  for (const DeclaredMove& move : network_.moves)
    if (move.to == layer)
      reads[move.input] = nodeOf(move.from, move.output);
  return reads;
}

namespace {

// The container of a layer, from the layer's path of names.
std::string containerOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

} // namespace

std::vector<HaloFrom> OwnModel::haloSettings() const {
  std::vector<HaloFrom> halos;
  for (const DeclaredNode& node : network_.nodes)
    halos.push_back(haloFrom(*network_.declaration(node)));
  return halos;
}

// The network with these parallelizations, compiled as set-up compiles it. `halos` has the source
// of the halo of each layer, and `depth` the most layers that share an exchange.
CompiledNetwork OwnModel::compiledWith(const std::vector<int>& parallelizations,
                                       const std::vector<HaloFrom>& halos, Index depth) const {
  const Layouts inputs = runInputs(parallelizations);
  const int before = static_cast<int>(inputs.size());
  Network network{.nodes = {},
                  .inputs = before,
                  .outputs = {before + static_cast<int>(network_.nodes.size()) - 1},
                  .elementBytes = network_.elementBytes,
                  .savesRounded = network_.savesRounded,
                  .output = task_.output};
  for (int n = 0; n < static_cast<int>(network_.nodes.size()); ++n) {
    const DeclaredNode& declared = network_.nodes[n];
    NetworkNode& node = network.nodes.emplace_back();
    node.type = network_.declaration(declared);
    for (int read : runReads(n))
      node.reads.push_back(read < 0 ? -1 - read : before + read);
    if (declared.output == 0)
      node.choice = runChoice(declared.layer, parallelizations[declared.layer]);
    node.recomputes = trains() && node.type->value<bool>("recompute");
    node.halo = halos[n];
    node.container = containerOf(declared.name);
    node.parameters = declared.parameters;
    node.haloDepth = depth;
  }
  Target target = task_.target;
  if (target.space == Space::Host)
    target.pieces = {task_.movement.routes.rates.latency,
                     task_.movement.routes.rates.copyBandwidth};
  return {std::move(network), inputs, target};
}

PassPrices OwnModel::passPrices(const CompiledNetwork& compiled) const {
  return {compiled, *conversions_, rates_.kernels, Sampling::Few};
}

RunMemory OwnModel::runMemory(CompiledNetwork compiled) const {
  std::vector<bool> frozen;
  for (const DeclaredNode& node : network_.nodes)
    frozen.push_back(network_.frozen(node));
  const std::size_t inputs = compiled.network().inputs;
  return {std::move(compiled),
          {.trains = trains(),
           .stackDepth = network_.stackDepth,
           .optimizerStates = task_.optimizerStates,
           .inputCotangents = std::vector<bool>(inputs, task_.input && task_.inputCotangent),
           .frozen = std::move(frozen),
           .movement = task_.movement,
           .bucketBytes = task_.bucketBytes,
           .shared = task_.shared}};
}

// A few ranks that include the one with the most memory: all of a small grid, else its first,
// middle and last position.
std::vector<int> OwnModel::sampledRanks() const {
  constexpr int kMaxOfSmall = 4;
  const int processes = grid_->size();
  return processes <= kMaxOfSmall ? grid_->ranks() : std::vector{0, processes / 2, processes - 1};
}

// Layers use the same scratch memory one after the other, so its size is the maximum over layers.
double OwnModel::scratchOf(const CompiledNetwork& compiled) const {
  double scratch = 0;
  for (std::size_t node = 0; task_.scratch && node < network_.nodes.size(); ++node)
    scratch = std::max(
        scratch, double(task_.scratch(static_cast<int>(node), *compiled.network().nodes[node].type,
                                      *compiled.nodes()[node].form)));
  return scratch;
}

double OwnModel::bytesOfRun(const RunMemory& memory) const {
  double most = 0;
  for (int rank : sampledRanks())
    most = std::max(most, memory.of(rank).total());
  const CompiledNetwork& compiled = memory.network();
  return bytesBesideArrays(compiled.nodes().size()) + most + scratchOf(compiled);
}

double OwnModel::runBytes(const std::vector<int>& parallelizations) const {
  return bytesOfRun(runMemory(compiledWith(parallelizations)));
}

// Chooses the layers that are recomputed on the rank that needs the most memory. Times are those of
// kernels and of the operators (exchanges) in the joined list of the run.
CostModel::RecomputedLayers OwnModel::recomputedWithin(const std::vector<int>& parallelizations,
                                                       double bytes) const {
  RunMemory memory = runMemory(compiledWith(parallelizations));
  const CompiledNetwork& compiled = memory.network();
  const std::vector<int> ranks = sampledRanks();
  const auto bytesOf = [&](int rank) { return memory.of(rank).total(); };
  std::vector<double> kernels, operators;
  std::vector<bool> always;
  for (std::size_t n = 0; n < compiled.nodes().size(); ++n) {
    const NetworkNode& node = compiled.network().nodes[n];
    kernels.push_back(kernelCost(*node.type, *compiled.nodes()[n].form, /*hasCotangent=*/true,
                                 network_.elementBytes, rates_.kernels)
                          .applySeconds);
    always.push_back(node.recomputes);
  }
  const PassPrices prices = passPrices(compiled);
  for (const OperatorEntry& op : compiled.saving().operators())
    operators.push_back(prices.seconds(op, /*adjoint=*/false));
  const double others = bytesBesideArrays(compiled.nodes().size()) + scratchOf(compiled);
  RecomputationSearch search(memory, std::move(kernels), std::move(operators), always,
                             *std::ranges::max_element(ranks, {}, bytesOf));
  const std::optional<Recomputation> found = search.within(bytes - others);
  RecomputedLayers recomputation{.bytes = others + search.least()};
  if (!found)
    return recomputation;
  double most = 0;
  for (int rank : ranks)
    most = std::max(most, bytesOf(rank));
  recomputation.bytes = others + most;
  recomputation.seconds = found->seconds;
  for (std::size_t node = 0; recomputation.bytes <= bytes && node < network_.nodes.size(); ++node)
    if (found->nodes[node] && !always[node])
      recomputation.layers.push_back(network_.nodes[node].name);
  return recomputation;
}

// The seconds of the passes of a run.
double OwnModel::runSeconds(const RunMemory& memory) const {
  const PassPrices prices = passPrices(memory.network());
  double seconds = 0;
  for (const Pass& pass : memory.passes())
    seconds += prices.seconds(memory.list(), pass);
  return seconds / static_cast<double>(task_.stepsPerEvaluation);
}

// Chooses the layers whose halo is computed by the layers before them. `windows` are the layers
// whose setting leaves the choice open and that need a halo.
CostModel::SharedHalos OwnModel::sharedHalos(const std::vector<int>& parallelizations, Index depth,
                                             double bytes) const {
  if (network_.nodes.empty())
    return {};
  std::vector<HaloFrom> halos = haloSettings();
  std::vector<int> windows;
  for (int n = 0; n < static_cast<int>(halos.size()); ++n)
    if (halos[n] == HaloFrom::Auto && hasSharedHalo(*network_.declaration(network_.nodes[n]))) {
      halos[n] = HaloFrom::Exchange;
      windows.push_back(n);
    }
  const CompiledNetwork separate = compiledWith(parallelizations, halos, depth);
  std::erase_if(windows, [&](int n) { return !separate.nodes()[n].form->uses.front().hasHalos(); });
  std::map<std::vector<int>, HaloRun> known; // by the nodes whose halo is computed
  const auto runOf = [&](const std::vector<bool>& mayCompute) {
    std::vector<HaloFrom> settings = halos;
    for (std::size_t i = 0; i < windows.size(); ++i)
      if (mayCompute[i])
        settings[windows[i]] = HaloFrom::Auto;
    CompiledNetwork compiled = compiledWith(parallelizations, settings, depth);
    std::vector<int> computed;
    std::ranges::copy_if(windows, std::back_inserter(computed), [&](int n) {
      return settings[n] == HaloFrom::Auto && compiled.nodes()[n].inputs.front().hasHalos() &&
             runReads(n).front() >= 0;
    });
    const auto [entry, isNew] = known.try_emplace(computed);
    if (isNew) {
      const RunMemory memory = runMemory(std::move(compiled));
      entry->second = {
          .seconds = runSeconds(memory), .bytes = bytesOfRun(memory), .computed = computed};
    }
    return entry->second;
  };
  const HaloRun best = fastestHalos(static_cast<int>(windows.size()), depth, bytes, runOf);
  SharedHalos shared{
      .layers = {}, .seconds = known.at({}).seconds - best.seconds, .bytes = best.bytes};
  for (int n : best.computed)
    shared.layers.push_back(network_.nodes[n].name);
  return shared;
}

// For layers that run, everything is counted as in a run. For a table of sizes, the sum over layers
// and the upper bound of the temporary memory.
double OwnModel::planBytes(const std::vector<int>& parallelizations) const {
  return network_.nodes.empty() ? kOnceBytes + CostModel::planBytes(parallelizations) +
                                      temporaryBytes(parallelizations)
                                : runBytes(parallelizations);
}

} // namespace tenon
