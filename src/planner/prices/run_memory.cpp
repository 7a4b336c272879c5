// SPDX-License-Identifier: BSD-2-Clause
// Counts the memory of a process in a run of a network (run_memory.hpp). It derives the passes of a
// training step, or of inference, from the list that SetUp also runs. The temporary values of a
// pass then have the same offsets in memory as in a run. The sum of a rank consists of:
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

#include "compile/prices/listed_moves.hpp"
#include "compile/prices/pass_prices.hpp"
#include "compile/program/bucketing.hpp"
#include "declaration/core/memory_plan.hpp"
#include "sys/bfloat16.hpp"
#include "sys/memory/memory.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

RunMemory::RunMemory(CompiledNetwork compiled, RunTask task)
    : compiled_(std::move(compiled)), task_(std::move(task)) {
  addParameters();
  findMovements();
  list_ = compiled_.list();
  derivePasses();
  if (task_.trains)
    findSums();
}

void RunMemory::recompute(const std::vector<bool>& nodes) {
  list_ = compiled_.recomputing(nodes);
  derivePasses();
}

void RunMemory::derivePasses() {
  const Order order = compiled_.order();
  passes_.clear();
  if (!task_.trains) {
    const InInference all(std::max(1, list_.nodes()), true);
    passes_.push_back(applyPass(list_, order, all, /*keeps=*/false));
    return;
  }
  passes_.push_back(applyPass(list_, order));
  passes_.push_back(adjointPass(list_, task_.inputCotangents, order));
}

void RunMemory::addParameters() {
  for (std::size_t n = 0; n < compiled_.nodes().size(); ++n) {
    const CompiledNetwork::Node& node = compiled_.nodes()[n];
    const bool isTrained = task_.trains && !(n < task_.frozen.size() && task_.frozen[n]);
    for (std::size_t p = 0; p < node.storage.size(); ++p) {
      const Layout &storage = node.storage[p], &use = node.form->parameters[p].use;
      // A gradient must be summed over ranks if partial sums are another layout than copies.
      HeldParameter& held = parameters_.emplace_back(
          HeldParameter{.storage = storage,
                        .use = use,
                        .toUse = {},
                        .isSummed = isTrained && !haveSameMemory(storage.dual(), storage),
                        .isTrained = isTrained,
                        .node = static_cast<int>(n)});
      if (!haveSameMemory(storage, use))
        held.toUse = movementOf(storage, use);
    }
  }
}

Movement RunMemory::movementOf(const Layout& from, const Layout& to) const {
  return tenon::movementOf(from, to, elementBytes(), task_.movement);
}

void RunMemory::findMovements() {
  for (const OperatorEntry& op : compiled_.saving().operators())
    if (!goesByLists(op) && !op.isLocal())
      movements_.push_back(tenon::movementOf(op, elementBytes(), task_.movement));
}

// Either the buckets of a plan that runs, or each gradient separately.
void RunMemory::findSums() {
  // The step of the adjoint that completes the gradients of a node.
  std::vector<std::size_t> ready(compiled_.nodes().size(), ~std::size_t(0));
  const std::vector<Step>& steps = adjoint().steps;
  for (std::size_t s = 0; s < steps.size(); ++s)
    if (addsToGradients(list_, steps[s]))
      ready[compiled_.nodeOfKernel(list_.maps()[steps[s].map].object)] = s;
  std::vector<SummedGradient> gradients;
  for (const HeldParameter& parameter : parameters_)
    if (parameter.isSummed)
      gradients.push_back({.storage = parameter.storage,
                           .elementBytes = elementBytes(),
                           .ready = ready[parameter.node]});
  const auto add = [&](const Layout& layout) {
    sums_.push_back(movementOf(layout.dual(), layout));
  };
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
  return double(elementBytes() * elements(layout.boxOfRank(rank)));
}

Index RunMemory::sharedBytes(const Pass& pass, int rank) const {
  const auto bytes = [&](ValueId v) {
    const Value& value = pass.values[v];
    return (value.rounded ? Index(sizeof(BFloat16)) : elementBytes()) *
           elements(value.layout.boxOfRank(rank));
  };
  return memoryPlanOf(pass, bytes, kAlignment).bytes;
}

// Traffic by lists, assuming messages of equal size.
double RunMemory::listedBytes(const OperatorEntry& op, int rank) const {
  const auto [sent, received] =
      op.map ? mostTraffic(op, /*adjoint=*/false) : listedTraffic(op, /*adjoint=*/false, rank);
  double sum = 0;
  for (const Traffic& traffic : {sent, received}) {
    const Index bytes = elementBytes() * traffic.elements, messages = traffic.messages;
    // Lanes are in the shared memory of a node: only if all ranks of the grid are on one.
    const bool byLanes = messages > 0 && op.from.grid().size() <= task_.shared.ranks;
    sum += double(byLanes ? messages * task_.shared.laneBytes(bytes / messages, bytes) : bytes);
  }
  return sum;
}

void RunMemory::addParameter(const HeldParameter& parameter, int rank, RunBytes& bytes) const {
  const double stored = bytesOf(parameter.storage, rank), used = bytesOf(parameter.use, rank);
  const bool isElsewhere = parameter.toUse.has_value();
  bytes.parameters += stored + (isElsewhere ? used : 0);
  if (isElsewhere)
    bytes.messages += parameter.toUse->bufferBytes(rank, task_.shared, parameter.isTrained);
  if (!parameter.isTrained)
    return;
  // The gradient. Kernels add to it, or to an array of their own: in another layout, which is
  // converted into a third array, or beside a bucket.
  const bool isInBucket = parameter.isSummed && task_.bucketBytes != 0;
  bytes.parameters += stored + (isElsewhere || isInBucket ? used : 0) + (isElsewhere ? stored : 0) +
                      double(task_.optimizerStates) * stored;
  if (parameter.isSummed)
    bytes.parameters += stored; // the direction of the optimizer's step
}

// Arrays of the user are already counted as arguments. Apply refers to tensors of the library; only
// if an input is an array that the user has placed, which is not known here, it is copied.
double RunMemory::savedBytes(int rank) const {
  Index saved = list_.savedBytes(rank, elementBytes());
  for (ValueId v = 0; v < static_cast<ValueId>(list_.values().size()); ++v)
    if (const Value& value = list_.values()[v]; value.saved && value.isUserSupplied())
      saved -= (list_.savesRounded(v) ? Index(sizeof(BFloat16)) : elementBytes()) *
               elements(value.layout.boxOfRank(rank));
  return double(task_.stackDepth * saved);
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
  for (const Movement& movement : movements_)
    bytes.messages += movement.bufferBytes(rank, task_.shared, task_.trains);
  for (const Movement& sum : sums_)
    bytes.messages += sum.bufferBytes(rank, task_.shared, /*bothWays=*/false);
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
