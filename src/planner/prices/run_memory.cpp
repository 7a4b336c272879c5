// SPDX-License-Identifier: BSD-2-Clause
// Joins the maps of all layers as a set-up does, and derives the passes of a step of training, or that
// of inference. Values that passes use by turns then have the places that they have in a run. The
// buffers of moves are those of messages; through memory that a node shares they are no larger.
#include "planner/prices/run_memory.hpp"

#include "declaration/core/arena.hpp"
#include "geometry/schedule.hpp"
#include "planner/prices/listed_moves.hpp"
#include "sys/bfloat16.hpp"
#include "sys/memory/memory.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

RunMemory::RunMemory(const std::vector<RunNode>& nodes, const Layouts& inputs, RunTask task)
    : task_(std::move(task)) {
  for (const Layout& input : inputs)
    list_.input("x", input);
  list_.output("y", nodes.back().form.output);
  std::vector<ValueId> values;
  for (const RunNode& node : nodes)
    add(node, values, &node == &nodes.back());
  if (task_.savesRounded)
    list_.keepRounded();
  findRoutes();
  joined_ = std::move(list_);
  recompute(std::move(task_.recomputed));
}

void RunMemory::recompute(std::vector<bool> nodes) {
  list_ = joined_;
  if (std::ranges::find(nodes, true) != nodes.end())
    list_.recompute(nodes);
  passes_.clear();
  if (!task_.trains) {
    const InInference all(std::max(1, list_.nodes()), true);
    passes_.push_back(applyPass(list_, Order::Moved, all, false));
    return;
  }
  passes_.push_back(applyPass(list_));
  passes_.push_back(adjointPass(list_, task_.inputCotangents));
}

void RunMemory::add(const RunNode& node, std::vector<ValueId>& values, bool isLast) {
  const Layouts storage = node.declaration->storageLayouts(node.form);
  for (std::size_t p = 0; p < storage.size(); ++p) {
    const Layout& use = node.form.parameters[p].use;
    HeldParameter& held = parameters_.emplace_back(HeldParameter{storage[p], use, {}, {}});
    if (!sameHolding(storage[p], use))
      held.toUse = routeOf(storage[p], use);
    if (!sameHolding(storage[p].dual(), storage[p]))
      held.sum = routeOf(storage[p].dual(), storage[p]);
  }
  std::vector<ValueId> reads;
  for (int read : node.reads)
    reads.push_back(read < 0 ? list_.inputs()[-1 - read] : values[read]);
  values.push_back(isLast ? list_.output() : list_.value("v", node.form.output));
  list_.join(node.declaration->maps(node.form, storage), reads, values.back());
}

Route RunMemory::routeOf(const Layout& from, const Layout& to) const {
  return findRoute(from, to, task_.elementBytes, {.mode = RouteMode::Auto, .rates = task_.links});
}

void RunMemory::findRoutes() {
  for (const OperatorEntry& op : list_.operators())
    if (!goesByLists(op) && (op.kind == OperatorKind::Conversion ||
                             op.kind == OperatorKind::Exchange || op.kind == OperatorKind::Maximum))
      routes_.push_back(routeOf(op.from, op.to));
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
  return lodgingOf(pass, bytes, kAlignment).bytes;
}

// What is sent is packed, what arrives is combined from there, and between the steps of a route lie
// tensors.
double RunMemory::carriedBytes(const Route& route, int rank) const {
  const double each = double(task_.elementBytes);
  double sum = 0;
  for (const RouteStep& step : route) {
    if (step.collective) {
      // The whole, and an addend of the own piece from each process.
      sum += 2 * each * double(collectivePieces(step, rank).elements);
    } else {
      const Schedule schedule = makeSchedule(step.from, step.to, rank);
      sum += each * double(sentTraffic(schedule, rank).elements +
                           receivedTraffic(schedule, rank).elements);
    }
    if (&step != &route.back())
      sum += bytesOf(step.to, rank);
  }
  return sum;
}

void RunMemory::addParameter(const HeldParameter& parameter, int rank, RunBytes& bytes) const {
  const double stored = bytesOf(parameter.storage, rank), used = bytesOf(parameter.use, rank);
  const bool isElsewhere = !parameter.toUse.empty();
  bytes.parameters += stored + (isElsewhere ? used : 0);
  bytes.messages += carriedBytes(parameter.toUse, rank);
  if (!task_.trains)
    return;
  // The gradient and its addends, which come from another layout into a place of their own.
  bytes.parameters +=
      stored + used + (isElsewhere ? stored : 0) + double(task_.optimizerStates) * stored;
  if (!parameter.sum.empty()) {
    bytes.parameters += stored; // what the optimizer steps along
    // A parameter can sum by itself, and in a bucket with others.
    bytes.messages += 2 * carriedBytes(parameter.sum, rank);
  }
}

double RunMemory::keptBytes(int rank) const {
  auto kept = double(list_.keptBytes(rank, task_.elementBytes));
  // What the caller holds is counted there.
  for (ValueId v = 0; v < static_cast<ValueId>(list_.values().size()); ++v)
    if (const Value& value = list_.values()[v];
        value.kept && value.isCallers() && !list_.keepsRounded(v))
      kept -= bytesOf(value.layout, rank);
  return kept;
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
    bytes.kept = keptBytes(rank);
  }
  bytes.shared = sharedBytes(rank);
  for (const Value& value : list_.values())
    if (value.place == Value::Place::Constant)
      bytes.messages += bytesOf(value.layout, rank);
  for (const Route& route : routes_)
    bytes.messages += carriedBytes(route, rank);
  for (const OperatorEntry& op : list_.operators())
    if (goesByLists(op)) {
      const auto [sent, received] = op.map ? mostTraffic(op) : listedTraffic(op, false, rank);
      bytes.messages += double(task_.elementBytes * (sent.elements + received.elements));
    }
  for (const HeldParameter& parameter : parameters_)
    addParameter(parameter, rank, bytes);
  return bytes;
}

} // namespace tenon
