// SPDX-License-Identifier: BSD-2-Clause
// Builds map lists, and joins those of a network's layers (its nodes) into one. A map list
// describes one evaluation of a layer: kernels, operators (exchanges between ranks), copies and
// sources (conversions of parameters), which read and write values (map_list.hpp).
//
//   declaration of a layer     input(), output(), value(), run(), apply(), ...   one list per layer
//   network                    join() of each layer's list, in the order of the nodes
//   planner, set-up            recompute(): which nodes run again for the adjoint instead of saving
//
// add() enforces the two rules that make it possible to derive tangent and adjoint from the order
// of the maps alone: no write after a read, and no second writer that cannot add.
#include "declaration/core/map_list.hpp"

#include "sys/bfloat16.hpp"
#include "sys/errors/error.hpp"
#include "sys/memory/memory.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

Index Workspace::bytesOfRank(int rank) const {
  return elementsOf ? bytes * elements(elementsOf->boxOfRank(rank)) : bytes;
}

ValueId MapList::addValue(Value value) {
  values_.push_back(std::move(value));
  read_.push_back(false);
  return static_cast<ValueId>(values_.size()) - 1;
}

ValueId MapList::input(std::string name, const Layout& layout) {
  inputs_.push_back(
      addValue({.name = std::move(name), .layout = layout, .place = Value::Place::Argument}));
  return inputs_.back();
}

ValueId MapList::output(std::string name, const Layout& layout) {
  outputs_.push_back(
      addValue({.name = std::move(name), .layout = layout, .place = Value::Place::Argument}));
  return outputs_.back();
}

void MapList::copy(ValueId v, ValueId output) {
  add({.kind = Map::Kind::Stage, .x = {v}, .y = output, .node = std::max(0, nodes_ - 1)});
}

ValueId MapList::value(std::string name, const Layout& layout) {
  return addValue({std::move(name), layout});
}

ValueId MapList::constant(std::string name, const Layout& layout, double value) {
  const int index = static_cast<int>(constants_.size());
  constants_.push_back(value);
  return addValue({.name = std::move(name),
                   .layout = layout,
                   .place = Value::Place::Constant,
                   .constant = index});
}

// The contiguous copy of an argument, if the list has one, or kNoValue.
ValueId MapList::stagedOf(ValueId argument) const {
  for (ValueId v = 0; v < static_cast<ValueId>(values_.size()); ++v)
    if (values_[v].sharesMemoryOf == argument)
      return v;
  return kNoValue;
}

bool MapList::isWritten(ValueId v) const {
  return std::any_of(maps_.begin(), maps_.end(), [&](const Map& map) { return map.y == v; });
}

ValueId MapList::staged(ValueId input) {
  if (values_[input].place != Value::Place::Argument)
    return input;
  // Two kernels that read the same input share its copy.
  if (const ValueId existing = stagedOf(input); existing != kNoValue)
    return existing;
  const ValueId id = addValue({.name = values_[input].name + "'",
                               .layout = values_[input].layout,
                               .place = Value::Place::Own,
                               .sharesMemoryOf = input});
  add({.kind = Map::Kind::Stage, .x = {input}, .y = id});
  return id;
}

ValueId MapList::stagedOutput() {
  return addValue({.name = values_[output()].name + "'",
                   .layout = values_[output()].layout,
                   .place = Value::Place::Own,
                   .sharesMemoryOf = output()});
}

void MapList::unstage(ValueId stagedOutput) {
  add({.kind = Map::Kind::Stage, .x = {stagedOutput}, .y = values_[stagedOutput].sharesMemoryOf});
}

int MapList::source(SourceEntry source) {
  // A source writes no value, so there is nothing for add() to check.
  sources_.push_back(std::move(source));
  const int index = static_cast<int>(sources_.size()) - 1;
  maps_.push_back({.kind = Map::Kind::Source, .object = index});
  return index;
}

int MapList::ownOperator(OperatorKind kind, const Layout& from, const Layout& to) {
  operators_.push_back({kind, from, to});
  return static_cast<int>(operators_.size()) - 1;
}

int MapList::apply(OperatorKind kind, ValueId x, ValueId y) {
  const int index = ownOperator(kind, values_[x].layout, values_[y].layout);
  applyAgain(index, x, y);
  return index;
}

int MapList::applyMap(IndexMapPtr map, bool transposed, ValueId x, ValueId y) {
  const int index = apply(transposed ? OperatorKind::IndexSum : OperatorKind::IndexMap, x, y);
  operators_[index].map = std::move(map);
  return index;
}

int MapList::applyLinks(PatchRule rule, bool transposed, ValueId x, ValueId y) {
  const int index = applyMap(nullptr, transposed, x, y);
  operators_[index].rule = std::move(rule);
  return index;
}

ValueId MapList::convert(std::string name, ValueId x, const Layout& to, OperatorKind kind) {
  const ValueId y = value(std::move(name), to);
  // A conversion redistributes the same numbers, so a derivative that needs all digits of the
  // original needs them in the converted value.
  values_[y].exact = values_[x].exact;
  apply(kind, x, y);
  return y;
}

void MapList::applyAgain(int op, ValueId x, ValueId y) {
  add({.kind = Map::Kind::Operator,
       .object = op,
       .x = {x},
       .y = y,
       .fixed = operators_[op].kind == OperatorKind::Maximum,
       .when = when_});
}

int MapList::addKernel(KernelEntry kernel, std::vector<ValueId> x, ValueId y, bool part,
                       bool fixed) {
  if (x.empty() || x.size() > kMaxInputs)
    throw Error(TENON_ERR_INTERNAL, fmt::format("kernel {} has {} inputs; it may have 1 to {}",
                                                kernel.name, x.size(), kMaxInputs));
  if (kernel.addsCotangent && x.size() != 1)
    throw Error(TENON_ERR_INTERNAL,
                fmt::format("kernel {} adds to the cotangent of its one input, but has {}",
                            kernel.name, x.size()));
  // A fixed kernel is not differentiated, so no derivative will read its inputs or output.
  if (!fixed && kernel.savesInputs)
    for (ValueId v : x)
      // A constant is part of the list and need not be saved for each Apply.
      values_[v].saved = values_[v].place != Value::Place::Constant;
  if (!fixed && kernel.savesOutput)
    values_[y].saved = true;
  kernels_.push_back(std::move(kernel));
  const int index = static_cast<int>(kernels_.size()) - 1;
  add({.kind = Map::Kind::Kernel,
       .object = index,
       .x = std::move(x),
       .y = y,
       .part = part,
       .fixed = fixed,
       .when = when_});
  return index;
}

ValueId MapList::exact(ValueId v) {
  values_[v].exact = true;
  return v;
}

// Returns, by value of a node, the value of this list that takes its place. The inputs and the
// output of the node become the given values, and all other values of the node are added to this
// list.
std::vector<ValueId> MapList::bind(const MapList& node, const std::vector<ValueId>& reads,
                                   ValueId write, const JoinedObjects& offsets) {
  std::vector<ValueId> bound(node.values_.size(), kNoValue);
  for (std::size_t i = 0; i < reads.size(); ++i)
    bound[node.inputs_[i]] = reads[i];
  bound[node.output()] = write;
  for (ValueId v = 0; v < static_cast<ValueId>(bound.size()); ++v) {
    Value copy = node.values_[v];
    const bool saved = copy.saved, exact = copy.exact;
    // `copy` is a contiguous copy of an argument of the node. Within a network, the argument is
    // mostly a value of the library, which is contiguous, so no copy is needed. If it is an input
    // of the network, another node can have made the copy already.
    if (bound[v] == kNoValue && copy.sharesMemoryOf != kNoValue) {
      copy.sharesMemoryOf = bound[copy.sharesMemoryOf];
      if (values_[copy.sharesMemoryOf].place != Value::Place::Argument)
        bound[v] = copy.sharesMemoryOf;
      else
        bound[v] = stagedOf(copy.sharesMemoryOf);
    }
    if (bound[v] == kNoValue) {
      if (copy.constant >= 0)
        copy.constant += offsets.constants;
      bound[v] = addValue(std::move(copy));
    }
    // A value is saved if at least one of its readers saves it.
    values_[bound[v]].saved |= saved;
    values_[bound[v]].exact |= exact;
  }
  return bound;
}

// Appends the tables of a node to those of this list. `offsets` are the sizes of the tables before,
// by which the node's indices into its own tables increase.
void MapList::addObjects(const MapList& node, const JoinedObjects& offsets) {
  operators_.insert(operators_.end(), node.operators_.begin(), node.operators_.end());
  sources_.insert(sources_.end(), node.sources_.begin(), node.sources_.end());
  constants_.insert(constants_.end(), node.constants_.begin(), node.constants_.end());
  for (KernelEntry kernel : node.kernels_) {
    for (int& source : kernel.sources)
      source += offsets.sources;
    for (OwnMove& move : kernel.moves)
      move.op += offsets.operators;
    kernels_.push_back(std::move(kernel));
  }
}

// A layer that is two nodes of the network joins its list twice. The second time `earlier` has the
// offsets of the first, and both nodes use the same kernels and parameters.
JoinedObjects MapList::join(const MapList& node, const std::vector<ValueId>& reads, ValueId write,
                            const JoinedObjects* earlier) {
  if (node.isRewritten_)
    throw Error(
        TENON_ERR_INTERNAL,
        "a list of maps is joined that was rewritten to be run; join the list that it was made of");
  const JoinedObjects offsets =
      earlier ? *earlier
              : JoinedObjects{.operators = static_cast<int>(operators_.size()),
                              .kernels = static_cast<int>(kernels_.size()),
                              .sources = static_cast<int>(sources_.size()),
                              .constants = static_cast<int>(constants_.size())};
  if (!earlier)
    addObjects(node, offsets);
  const std::vector<ValueId> bound = bind(node, reads, write, offsets);
  for (Map map : node.maps_) {
    map.node += nodes_;
    for (ValueId& x : map.x)
      x = bound[x];
    if (map.kind == Map::Kind::Source) {
      map.object += offsets.sources;
      // A layer that is two nodes converts its parameters to their use layouts once.
      if (!earlier)
        maps_.push_back(std::move(map));
      continue;
    }
    map.y = bound[map.y];
    if (map.kind == Map::Kind::Stage && (map.x.front() == map.y || isWritten(map.y)))
      continue; // both are one value in this list, or another node has made the copy
    if (map.kind != Map::Kind::Stage)
      map.object += map.kind == Map::Kind::Operator ? offsets.operators : offsets.kernels;
    add(std::move(map));
  }
  // A plain layer is one node; a nested network adds all of its nodes.
  nodes_ += std::max(1, node.nodes_);
  return offsets;
}

// A value can be computed again if all maps that write it can run again: they are maps of marked
// nodes, and everything that they read will still be there.
std::vector<bool> MapList::mayRunAgain(const std::vector<bool>& nodes) const {
  std::vector<bool> canRunAgain(values_.size(), false), cannotRunAgain(values_.size(), false);
  for (const Map& map : maps_) {
    if (map.kind == Map::Kind::Source)
      continue;
    // A kernel runs again on values of the library and on what is saved of the caller's memory,
    // which can have changed otherwise. An operator or a copy does so on values of the library: it
    // can read halos that the caller has filled, which are in the argument, not in its saved copy.
    const auto isUserSupplied = [&](ValueId v) { return values_[v].isUserSupplied(); };
    const auto isLost = [&](ValueId v) { return isUserSupplied(v) && !values_[v].saved; };
    const bool runsAgain = nodes[map.node] && (map.kind == Map::Kind::Kernel
                                                   ? !kernels_[map.object].runsOnce &&
                                                         std::ranges::none_of(map.x, isLost)
                                                   : std::ranges::none_of(map.x, isUserSupplied));
    (runsAgain ? canRunAgain : cannotRunAgain)[map.y] = true;
  }
  for (std::size_t v = 0; v < values_.size(); ++v)
    canRunAgain[v] =
        canRunAgain[v] && !cannotRunAgain[v] && !values_[v].isUserSupplied() && !values_[v].exact;
  return canRunAgain;
}

// One backward sweep finds the values that are needed, because a value is written before it is
// read.
void MapList::recompute(const std::vector<bool>& nodes) {
  const std::vector<bool> canRunAgain = mayRunAgain(nodes);
  isRewritten_ = true;
  std::vector<bool> needed;
  for (const Value& value : values_)
    needed.push_back(value.saved);
  for (auto map = maps_.rbegin(); map != maps_.rend(); ++map)
    if (map->y != kNoValue && canRunAgain[map->y] && needed[map->y])
      for (ValueId x : map->x)
        needed[x] = values_[x].place != Value::Place::Constant;
  for (std::size_t v = 0; v < values_.size(); ++v) {
    values_[v].recomputed = needed[v] && canRunAgain[v];
    values_[v].saved = needed[v] && !canRunAgain[v];
  }
}

void MapList::redirect(ValueId from, ValueId to) {
  isRewritten_ = true;
  for (Map& map : maps_)
    std::ranges::replace(map.x, from, to);
  values_[to].saved |= values_[from].saved;
  values_[to].exact |= values_[from].exact;
  values_[from].saved = false;
  read_[to] = read_[to] || read_[from];
}

void MapList::erase(int map) {
  isRewritten_ = true;
  maps_.erase(maps_.begin() + map);
}

Index MapList::savedBytes(int rank, Index elementBytes) const {
  Index sum = 0;
  for (ValueId v = 0; v < static_cast<ValueId>(values_.size()); ++v) {
    const Value& value = values_[v];
    if (!value.saved)
      continue;
    const Index bytes = (savesRounded(v) ? Index(sizeof(BFloat16)) : elementBytes) *
                        elements(value.layout.boxOfRank(rank));
    // Arguments are saved as they are; the library's own values begin at aligned addresses.
    sum += value.isUserSupplied() ? bytes : roundedUp(bytes, kAlignment);
  }
  for (const Map& map : maps_)
    if (map.kind == Map::Kind::Kernel)
      sum += kernels_[map.object].workspace.bytesOfRank(rank);
  return sum;
}

// Adds a map and checks two rules. No value is written after it was read. If a value has several
// writers, either each writes a different part, or all but the first are operators, which can add
// to a value. Maps that never run in the same pass (training, inference) do not conflict.
void MapList::add(Map map) {
  if (read_[map.y])
    throw Error(TENON_ERR_INTERNAL,
                fmt::format("value {} of a list of maps is written after it was read; write it "
                            "first, or a value of its own",
                            values_[map.y].name));
  const auto runTogether = [&](const Map& existing) {
    return existing.when == map.when || existing.when == When::Always || map.when == When::Always;
  };
  for (const Map& existing : maps_)
    if (existing.y == map.y && runTogether(existing) && !(existing.part && map.part) &&
        (existing.part || map.kind != Map::Kind::Operator))
      throw Error(TENON_ERR_INTERNAL,
                  fmt::format("value {} of a list of maps has a writer already, and only operators "
                              "add to one; write parts of it, or a value of its own",
                              values_[map.y].name));
  for (ValueId v : map.x)
    read_[v] = true;
  maps_.push_back(std::move(map));
}

} // namespace tenon
