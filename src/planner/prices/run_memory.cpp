// SPDX-License-Identifier: BSD-2-Clause
// Counts the memory of a process in a run of a network, for given layouts of all layers
// (run_memory.hpp). It joins the lists of maps (the steps of each layer) of all layers as SetUp
// does, and derives the passes of a training step, or of inference. The temporary values of a pass
// then have the same offsets in memory as in a run. The sum of a rank, for example:
//
//   arguments     input, output and cotangent of the network
//   saved         activations from Apply to its adjoint
//   shared        temporary values of all passes, in one buffer
//   parameters    values, gradients, optimizer state
//   messages      buffers of moves between ranks
//
// A move within a node can use lanes, buffers in the shared memory of the node, instead of message
// buffers. Nothing communicates: the bytes of any rank are computed on the rank that searches.
#include "planner/prices/run_memory.hpp"

#include "compile/program/joined_maps.hpp"
#include "declaration/core/memory_plan.hpp"
#include "geometry/schedule/schedule.hpp"
#include "planner/prices/bucketing.hpp"
#include "planner/prices/listed_moves.hpp"
#include "sys/bfloat16.hpp"
#include "sys/memory/memory.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

RunMemory::RunMemory(const std::vector<RunNode>& nodes, const Layouts& inputs, RunTask task)
    : task_(std::move(task)) {
  const int inputCount = static_cast<int>(inputs.size());
  std::vector<MapList> maps;
  Layouts values = inputs;
  for (const RunNode& node : nodes) {
    maps.push_back(addMaps(node, static_cast<int>(maps.size())));
    values.push_back(node.form.output);
  }
  std::vector<ListNode> listed;
  for (const RunNode& node : nodes) {
    ListNode& read = listed.emplace_back(ListNode{.maps = &maps[listed.size()], .reads = {}});
    for (int number : node.reads)
      read.reads.push_back(number < 0 ? -1 - number : inputCount + number);
  }
  JoinedMaps joined = joinMaps(listed, values, {static_cast<int>(values.size()) - 1});
  for (const JoinedObjects& first : joined.first)
    firstKernels_.push_back(first.kernels);
  joined_ = rewritten(std::move(joined.list), task_.target, task_.savesRounded);
  findRoutes();
  recompute(std::move(task_.recomputed));
  if (task_.trains)
    findSums();
}

void RunMemory::recompute(std::vector<bool> nodes) {
  const Order order = task_.target.order;
  list_ = joined_;
  if (std::ranges::find(nodes, true) != nodes.end())
    list_.recompute(nodes);
  passes_.clear();
  if (!task_.trains) {
    const InInference all(std::max(1, list_.nodes()), true);
    passes_.push_back(applyPass(list_, order, all, /*keeps=*/false));
    return;
  }
  passes_.push_back(applyPass(list_, order));
  passes_.push_back(adjointPass(list_, task_.inputCotangents, order));
}

// Returns the list of a layer, and notes its parameters. `number` is the number of the node.
MapList RunMemory::addMaps(const RunNode& node, int number) {
  const Layouts storage = node.declaration->storageLayouts(node.form);
  const bool isTrained = task_.trains && !node.frozen;
  for (std::size_t p = 0; p < storage.size(); ++p) {
    const Layout& use = node.form.parameters[p].use;
    // A gradient must be summed over ranks if partial sums are another layout than copies.
    HeldParameter& held = parameters_.emplace_back(
        HeldParameter{.storage = storage[p],
                      .use = use,
                      .toUse = {},
                      .isSummed = isTrained && !haveSameMemory(storage[p].dual(), storage[p]),
                      .isTrained = isTrained,
                      .node = number});
    if (!haveSameMemory(storage[p], use))
      held.toUse = routeOf(storage[p], use);
  }
  return node.declaration->maps(node.form, storage);
}

Route RunMemory::routeOf(const Layout& from, const Layout& to) const {
  return findRoute(from, to, task_.elementBytes, task_.routes);
}

// The routes of all operators. A route is the list of exchanges and collectives by which a
// conversion communicates.
void RunMemory::findRoutes() {
  for (const OperatorEntry& op : joined_.operators()) {
    if (goesByLists(op) || op.isLocal())
      continue;
    // Halos and maxima are a single exchange, regardless of the routes of conversions.
    if (op.kind == OperatorKind::Conversion)
      routes_.push_back(routeOf(op.from, op.to));
    else
      routes_.push_back({RouteStep{.from = op.from, .to = op.to, .collective = {}}});
  }
}

// Either the buckets of a plan that runs, or each gradient separately.
void RunMemory::findSums() {
  // The step of the adjoint that completes the gradients of a node.
  std::vector<std::size_t> ready(firstKernels_.size(), ~std::size_t(0));
  const std::vector<Step>& steps = adjoint().steps;
  for (std::size_t s = 0; s < steps.size(); ++s)
    if (addsToGradients(list_, steps[s])) {
      const int kernel = list_.maps()[steps[s].map].object;
      ready[std::ranges::upper_bound(firstKernels_, kernel) - firstKernels_.begin() - 1] = s;
    }
  std::vector<SummedGradient> gradients;
  for (const HeldParameter& parameter : parameters_)
    if (parameter.isSummed)
      gradients.push_back({parameter.storage, task_.elementBytes, ready[parameter.node]});
  const auto add = [&](const Layout& layout) { sums_.push_back(routeOf(layout.dual(), layout)); };
  if (task_.bucketBytes == 0)
    for (const SummedGradient& gradient : gradients)
      add(gradient.storage);
  else
    for (const std::vector<std::size_t>& bucket : bucketsOf(gradients, task_.bucketBytes)) {
      Layouts members;
      for (const std::size_t i : bucket)
        members.push_back(gradients[i].storage);
      add(bucketLayout(members));
    }
}

double RunMemory::bytesOf(const Layout& layout, int rank) const {
  return double(task_.elementBytes * elements(layout.boxOfRank(rank)));
}

Index RunMemory::sharedBytes(const Pass& pass, int rank) const {
  const auto bytes = [&](ValueId v) {
    const Value& value = pass.values[v];
    return (value.rounded ? Index(sizeof(BFloat16)) : task_.elementBytes) *
           elements(value.layout.boxOfRank(rank));
  };
  return memoryPlanOf(pass, bytes, kAlignment).bytes;
}

// Sent data are packed, and received data are combined from their buffer. The adjoint sends the
// data in the other direction, and has lanes of its own.
double RunMemory::exchangedBytes(const Schedule& schedule, int rank) const {
  double sum = 0;
  for (const std::vector<Transfer>* way : {&schedule.sends, &schedule.receives}) {
    Index byLanes = 0;
    for (const Transfer& part : *way)
      if (part.peer != rank && task_.shared.joins(rank, part.peer))
        byLanes += task_.elementBytes * part.elements;
    for (const Transfer& part : *way)
      if (const Index bytes = task_.elementBytes * part.elements; part.peer != rank)
        sum += double(task_.shared.joins(rank, part.peer) ? task_.shared.laneBytes(bytes, byLanes)
                                                          : bytes);
  }
  return sum;
}

// Between the steps of a route there are intermediate tensors, and further ones for the adjoint.
double RunMemory::carriedBytes(const Route& route, int rank, bool bothWays) const {
  double sum = 0;
  for (const RouteStep& step : route) {
    if (step.collective) {
      // The whole tensor, and a partial sum of the own piece from each process; along a tree a
      // second whole tensor.
      const CollectivePieces pieces = collectivePieces(step, rank);
      if (pieces.takesPart)
        sum += double(task_.elementBytes *
                      (pieces.elements +
                       std::max(pieces.elements, pieces.ranks * pieces.piece(pieces.coordinate))));
    } else {
      sum += exchangedBytes(makeSchedule(step.from, step.to, rank), rank);
    }
    if (&step != &route.back())
      sum += (bothWays ? 2 : 1) * bytesOf(step.to, rank);
  }
  return sum;
}

// Traffic by lists, assuming messages of equal size.
double RunMemory::listedBytes(const OperatorEntry& op, int rank) const {
  const auto [sent, received] =
      op.map ? mostTraffic(op, /*adjoint=*/false) : listedTraffic(op, /*adjoint=*/false, rank);
  double sum = 0;
  for (const Traffic& way : {sent, received}) {
    const Index bytes = task_.elementBytes * way.elements;
    const bool byLanes = way.messages > 0 && op.from.grid().size() <= task_.shared.ranks;
    sum += double(byLanes ? way.messages * task_.shared.laneBytes(bytes / way.messages, bytes)
                          : bytes);
  }
  return sum;
}

void RunMemory::addParameter(const HeldParameter& parameter, int rank, RunBytes& bytes) const {
  const double stored = bytesOf(parameter.storage, rank), used = bytesOf(parameter.use, rank);
  const bool isElsewhere = !parameter.toUse.empty();
  bytes.parameters += stored + (isElsewhere ? used : 0);
  bytes.messages += carriedBytes(parameter.toUse, rank, parameter.isTrained);
  if (!parameter.isTrained)
    return;
  // The gradient and its partial sums, which are converted from another layout into an array of
  // their own.
  bytes.parameters +=
      stored + used + (isElsewhere ? stored : 0) + double(task_.optimizerStates) * stored;
  if (parameter.isSummed)
    bytes.parameters += stored; // the direction of the optimizer's step
}

double RunMemory::savedBytes(int rank) const {
  auto saved = double(list_.savedBytes(rank, task_.elementBytes));
  // Arrays of the user are already counted as arguments.
  for (ValueId v = 0; v < static_cast<ValueId>(list_.values().size()); ++v)
    if (const Value& value = list_.values()[v];
        value.saved && value.isUserSupplied() && !list_.savesRounded(v))
      saved -= bytesOf(value.layout, rank);
  return double(task_.stackDepth) * saved;
}

double RunMemory::sharedBytes(int rank) const {
  double shared = 0;
  for (const Pass& pass : passes_)
    shared = std::max(shared, double(sharedBytes(pass, rank)));
  return shared;
}

RunBytes RunMemory::of(int rank) const {
  RunBytes bytes;
  for (ValueId v : list_.inputs())
    bytes.arguments += bytesOf(list_.values()[v].layout, rank);
  const Layout& output = list_.values()[list_.output()].layout;
  bytes.arguments += bytesOf(output, rank);
  if (task_.trains) {
    bytes.arguments += bytesOf(output.dual(), rank);
    bytes.saved = savedBytes(rank);
  }
  bytes.shared = sharedBytes(rank);
  for (const Value& value : list_.values())
    if (value.place == Value::Place::Constant)
      bytes.messages += bytesOf(value.layout, rank);
  for (const Route& route : routes_)
    bytes.messages += carriedBytes(route, rank, task_.trains);
  for (const Route& route : sums_)
    bytes.messages += carriedBytes(route, rank, /*bothWays=*/false);
  for (const OperatorEntry& op : list_.operators())
    if (goesByLists(op))
      bytes.messages += listedBytes(op, rank);
  // Data that circulate within a kernel need one array to send and one to receive.
  for (const KernelEntry& kernel : list_.kernels())
    for (const OwnMove& move : kernel.moves)
      if (task_.trains || move.inApply > 0)
        bytes.messages += 2 * bytesOf(list_.operators()[move.op].from, rank);
  for (const HeldParameter& parameter : parameters_)
    addParameter(parameter, rank, bytes);
  return bytes;
}

} // namespace tenon
