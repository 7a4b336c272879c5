// SPDX-License-Identifier: BSD-2-Clause
// Derives the steps of a forward evaluation (Apply), of its tangent and of its adjoint from the map
// list of a layer or network (map_list.hpp). A map reads values, which are tensors, and writes one
// value: a kernel computes on this rank's data, an operator redistributes data between ranks. For a
// convolution after a halo exchange, u = E x and y = K(u, W):
//
//   Apply     u = E x;       y = K u
//   tangent   t.u = E t.x;   t.y = K' t.u
//   adjoint   d.u = K'* d.y; W gradients += ...;   d.x = E* d.u
//
// t.v and d.v are the tangent and the cotangent of value v; the code calls both the dual of v. The
// cotangent of a value is the sum of its readers' contributions. The first writer of a cotangent
// overwrites it, so nothing is set to zero in advance except the cotangent of a requested input
// that no map reaches. The point of a derivative consists of the values of Apply that it reads.
// Apply saves them, in bfloat16 if the list says so (rounding), or the derivative computes them
// again (recomputation). All ranks derive the same steps, without communication; module `layer`
// runs them.
#include "declaration/core/pass.hpp"

#include <algorithm>

namespace tenon {

namespace {

// The action of a map before schedule() moves steps. Only operators that send messages are split
// into Begin and End; a fixed operator is a maximum, which is a single call.
Do whatOf(const MapList& list, const Map& map, Do kernel) {
  switch (map.kind) {
  case Map::Kind::Kernel:
    return kernel;
  case Map::Kind::Stage:
    return Do::Copy;
  case Map::Kind::Operator:
    return list.operators()[map.object].isLocal() || map.fixed ? Do::Apply : Do::Begin;
  case Map::Kind::Source:
    break;
  }
  return Do::Begin;
}

// The number of the last step that writes a value, -1 if there is none.
int lastWriter(const Pass& pass, ValueId v) {
  for (int s = static_cast<int>(pass.steps.size()); s-- > 0;)
    if (std::ranges::find(pass.steps[s].writes, v) != pass.steps[s].writes.end())
      return s;
  return -1;
}

// Adds a Round step for each value that is saved in bfloat16. The rounding is a new value, with ~
// before its name. A value of the library is rounded after its last writer; the caller's value at
// the end of the pass, or not at all if a reference to the caller's array can be saved instead.
void addRoundings(const MapList& list, Pass& pass) {
  const std::vector<ValueId> saved = savedIn(list);
  for (ValueId v = 0; v < static_cast<ValueId>(saved.size()); ++v) {
    if (saved[v] == v)
      continue;
    const Value& value = list.values()[v];
    const ValueId argument = value.place == Value::Place::Argument ? v : value.sharesMemoryOf;
    pass.values[v].saved = false;
    pass.values.push_back({.name = "~" + value.name,
                           .layout = value.layout,
                           .sharesMemoryOf = argument,
                           .saved = true,
                           .rounded = true});
    Step step{.what = Do::Round, .reads = {v}, .writes = {saved[v]}};
    auto position = pass.steps.end();
    if (const int writer = lastWriter(pass, v); argument == kNoValue && writer >= 0) {
      step.map = pass.steps[writer].map;
      position = pass.steps.begin() + writer + 1;
    }
    pass.steps.insert(position, std::move(step));
  }
}

// Expands rounded values before a kernel's derivative reads them: once for all consecutive steps of
// the same kernel, even if steps that run no kernel are between them.
void addExpansions(Pass& pass) {
  std::vector<Step> steps;
  int map = -1;               // the map of the last kernel step
  std::vector<ValueId> point; // the values that its derivative reads
  for (Step& step : pass.steps) {
    const bool isKernel =
        step.what == Do::Tangent || step.what == Do::Adjoint || step.what == Do::AdjointParameters;
    if (isKernel && step.map != map) {
      map = step.map;
      point = step.point;
      for (ValueId& v : point) {
        const ValueId saved = v;
        if (!pass.values[saved].rounded)
          continue;
        v = static_cast<ValueId>(pass.values.size());
        pass.values.push_back({.name = pass.values[saved].name.substr(1), // without the ~
                               .layout = pass.values[saved].layout,
                               .sharesMemoryOf = saved});
        std::ranges::replace(point, saved, v); // a kernel can read a value twice
        steps.push_back({.what = Do::Expand,
                         .map = map,
                         .adjoint = step.adjoint,
                         .reads = {saved},
                         .writes = {v}});
      }
    }
    if (isKernel)
      step.point = point;
    steps.push_back(std::move(step));
  }
  pass.steps = std::move(steps);
}

// The values of Apply that a derivative reads. Each is added to the pass of the derivative on first
// use. If Apply has not saved a value, the steps of Apply that write it are added as well.
class Points {
public:
  Points(const MapList& list, Pass& pass, const InInference& nodes)
      : list_(list), pass_(pass), nodes_(nodes), functions_(epilogues(list, nodes, /*keeps=*/true)),
        saved_(savedIn(list)), ids_(saved_.size(), kNoValue) {
    // A function whose derivative reads its input needs the value in between, hence both steps.
    for (int& function : functions_)
      if (function >= 0 && list.kernels()[list.maps()[function].object].savesInputs)
        function = -1;
  }

  // The point of a kernel's derivative.
  std::vector<ValueId> of(const Map& map) {
    const KernelEntry& entry = list_.kernels()[map.object];
    std::vector<ValueId> point;
    if (entry.savesInputs)
      for (ValueId x : map.x)
        point.push_back(of(x));
    if (entry.savesOutput)
      point.push_back(of(map.y));
    return point;
  }

private:
  ValueId add(Value value) {
    pass_.values.push_back(std::move(value));
    return static_cast<ValueId>(pass_.values.size()) - 1;
  }

  ValueId of(ValueId v) { // the value of this pass that holds value v of the list
    if (ids_[v] != kNoValue)
      return ids_[v];
    const Value& value = list_.values()[v];
    if (value.recomputed)
      return ids_[v] = runAgain(v);
    return ids_[v] = add({.name = (saved_[v] == v ? "" : "~") + value.name,
                          .layout = value.layout,
                          .place = Value::Place::Saved,
                          .rounded = saved_[v] != v,
                          .of = saved_[v]});
  }

  // Adds the steps by which Apply writes v, after the steps that write their inputs. An elementwise
  // function that Apply fuses into a kernel is fused here too, because a separate function could
  // round differently: the kernel then writes v (`applies`), and the function has no step.
  ValueId runAgain(ValueId v) {
    const ValueId newValue =
        add({.name = list_.values()[v].name, .layout = list_.values()[v].layout});
    bool written = false;
    for (int m = 0; m < static_cast<int>(list_.maps().size()); ++m) {
      const Map& map = list_.maps()[m];
      const bool applies = functions_[m] >= 0 && list_.maps()[functions_[m]].y == v;
      const bool isApplied = std::ranges::find(functions_, m) != functions_.end();
      if (!runs(map, nodes_) || isApplied || (map.y != v && !applies))
        continue;
      Step step{whatOf(list_, map, Do::Forward), m};
      for (ValueId x : map.x)
        step.reads.push_back(expanded(of(x)));
      step.writes = {newValue};
      step.adds = written && map.kind == Map::Kind::Operator;
      step.recomputed = true;
      step.epilogue = applies ? functions_[m] : -1;
      written = true;
      pass_.steps.push_back(std::move(step));
    }
    return newValue;
  }
  // The value without its rounding: a step expands it from bfloat16.
  ValueId expanded(ValueId v) {
    const Value saved = pass_.values[v];
    if (!saved.rounded)
      return v;
    const ValueId newValue =
        add({.name = saved.name.substr(1), .layout = saved.layout, .sharesMemoryOf = v});
    pass_.steps.push_back(
        {.what = Do::Expand, .reads = {v}, .writes = {newValue}, .recomputed = true});
    return newValue;
  }

  const MapList& list_;
  Pass& pass_;
  const InInference& nodes_;
  std::vector<int> functions_; // by map: its epilogue, or -1
  std::vector<ValueId> saved_; // by value of the list: itself or its rounding, in Apply's pass
  std::vector<ValueId> ids_;   // by value of the list: its number in this pass, or kNoValue
};

// The tangents or cotangents of the list's values, added to the pass on first use.
class Duals {
public:
  Duals(const MapList& list, Pass& pass, bool cotangents)
      : list_(list), pass_(pass), cotangents_(cotangents), ids_(list.values().size(), kNoValue) {}

  bool has(ValueId v) const { return ids_[v] != kNoValue; }
  // The dual of v, or kNoValue if there is none yet.
  ValueId known(ValueId v) const { return ids_[v]; }

  ValueId of(ValueId v) { // adds the dual of v to the pass if there is none yet
    if (has(v))
      return ids_[v];
    const Value& value = list_.values()[v];
    // As the copy can use the memory of its argument, so can its dual use the dual of the argument.
    const ValueId sharesMemoryOf =
        value.sharesMemoryOf == kNoValue ? kNoValue : of(value.sharesMemoryOf);
    return ids_[v] = add({.name = name(value),
                          .layout = layout(value),
                          .place = value.place,
                          .sharesMemoryOf = sharesMemoryOf});
  }
  // A temporary that is later added to the dual of v.
  ValueId contributionOf(ValueId v) {
    const Value& value = list_.values()[v];
    return add({.name = name(value) + "+", .layout = layout(value)});
  }

private:
  std::string name(const Value& value) const { return (cotangents_ ? "d." : "t.") + value.name; }
  Layout layout(const Value& value) const {
    return cotangents_ ? value.layout.dual() : value.layout;
  }
  ValueId add(Value value) {
    pass_.values.push_back(std::move(value));
    return static_cast<ValueId>(pass_.values.size()) - 1;
  }

  const MapList& list_;
  Pass& pass_;
  bool cotangents_;
  std::vector<ValueId> ids_;
};

// Whether the map is a kernel with parameters, to whose gradients its adjoint adds.
bool hasGradients(const MapList& list, const Map& map) {
  return map.kind == Map::Kind::Kernel && list.kernels()[map.object].gradients != Gradients::None;
}

bool isDifferentiated(const Map& map, const InInference& nodes) {
  return !map.fixed && runs(map, nodes);
}

// Whether a map depends on one of its inputs that satisfies a condition.
template <class Condition>
bool dependsOnAny(const MapList& list, const Map& map, Condition condition) {
  return !(map.kind == Map::Kind::Kernel && list.kernels()[map.object].isSource) &&
         std::any_of(map.x.begin(), map.x.end(), condition);
}

// Derives the pass of the adjoint: one backward sweep over the maps. `wanted` flags the inputs
// whose cotangents the caller requests, and possibly the outputs that have a cotangent.
class AdjointDerivation {
public:
  AdjointDerivation(const MapList& list, const Chosen& wanted, const InInference& nodes)
      : list_(list), nodes_(nodes), wants_(list.values().size(), false),
        reached_(list.values().size(), false), duals_(list, pass_, /*cotangents=*/true),
        points_(list, pass_, nodes) {
    findWants(wanted);
    const std::size_t inputs = list.inputs().size();
    for (std::size_t i = 0; i < list.outputs().size(); ++i) {
      const ValueId y = list.outputs()[i];
      reached_[y] = inputs + i >= wanted.size() || wanted[inputs + i];
      pass_.outputs.push_back(reached_[y] ? duals_.of(y) : kNoValue);
    }
    for (std::size_t i = 0; i < list.inputs().size(); ++i)
      pass_.inputs.push_back(wanted[i] ? duals_.of(list.inputs()[i]) : kNoValue);
  }

  // The maps of a node are consecutive. Steps for the node's parameter gradients are added after
  // all its cotangents, because the nodes before it need the cotangents first.
  Pass derive() {
    for (std::size_t m = list_.maps().size(); m-- > 0;) {
      const Map& map = list_.maps()[m];
      if (m + 1 < list_.maps().size() && list_.maps()[m + 1].node != map.node)
        addLate();
      if (map.kind != Map::Kind::Source && isDifferentiated(map, nodes_) && reached_[map.y] &&
          wants_[map.y])
        addMap(static_cast<int>(m), map);
    }
    addLate();
    for (std::size_t i = 0; i < list_.inputs().size(); ++i)
      if (pass_.inputs[i] != kNoValue && !reached_[list_.inputs()[i]])
        pass_.steps.push_back({.what = Do::Zero, .writes = {pass_.inputs[i]}});
    return std::move(pass_);
  }

private:
  // Adds the steps for parameter gradients, on which no other step of the node waits: they are
  // collected in late_ while the node's maps are visited.
  void addLate() {
    for (Step& step : late_)
      pass_.steps.push_back(std::move(step));
    late_.clear();
  }

  // Marks the values whose cotangents are needed: those that depend on a requested input or on a
  // parameter. One forward sweep finds them, because a value is written before it is read.
  void findWants(const Chosen& wanted) {
    for (std::size_t i = 0; i < list_.inputs().size(); ++i)
      wants_[list_.inputs()[i]] = wanted[i];
    for (const Map& map : list_.maps())
      if (map.kind != Map::Kind::Source && isDifferentiated(map, nodes_) &&
          (hasGradients(list_, map) ||
           dependsOnAny(list_, map, [&](ValueId v) { return wants_[v]; })))
        wants_[map.y] = true;
  }

  void addMap(int index, const Map& map) {
    const ValueId dy = duals_.of(map.y);
    if (map.kind == Map::Kind::Kernel)
      return addKernel(index, map, dy);
    const ValueId x = map.x.front();
    if (!wants_[x])
      return;
    const ValueId dx = duals_.of(x);
    const bool isReached = reached_[x];
    reached_[x] = true;
    if (map.kind == Map::Kind::Operator) {
      pass_.steps.push_back({.what = whatOf(list_, map, Do::Adjoint),
                             .map = index,
                             .adjoint = true,
                             .adds = isReached,
                             .reads = {dy},
                             .writes = {dx}});
    } else if (isReached) { // dx holds a cotangent already, so dy cannot share its memory
      pass_.values[dy].sharesMemoryOf = kNoValue;
      pass_.steps.push_back({.what = Do::Add, .reads = {dy}, .writes = {dx}});
    } else {
      pass_.steps.push_back(
          {.what = Do::Copy, .map = index, .adjoint = true, .reads = {dy}, .writes = {dx}});
    }
  }

  void addKernel(int index, const Map& map, ValueId dy) {
    const KernelEntry& entry = list_.kernels()[map.object];
    const Gradients gradients = entry.gradients;
    Step step{.what = Do::Adjoint,
              .map = index,
              .adjoint = true,
              .reads = {dy},
              .point = points_.of(map)};
    // A kernel that cannot add to a cotangent writes a contribution first. This includes an input
    // that the kernel reads twice, as in x times x: the second contribution is added to the first.
    std::vector<Step> sums;
    for (ValueId x : map.x) {
      if (!wants_[x] || entry.isSource) {
        step.writes.push_back(kNoValue);
        continue;
      }
      const ValueId sum = duals_.of(x);
      step.adds = reached_[x] && entry.addsCotangent; // such a kernel has one input
      const bool needsContribution = reached_[x] && !entry.addsCotangent;
      step.writes.push_back(needsContribution ? duals_.contributionOf(x) : sum);
      if (needsContribution)
        sums.push_back({.what = Do::Add, .reads = {step.writes.back()}, .writes = {sum}});
      reached_[x] = true;
    }
    const bool wanted = std::any_of(step.writes.begin(), step.writes.end(),
                                    [](ValueId v) { return v != kNoValue; });
    if (wanted || gradients == Gradients::Within)
      pass_.steps.push_back(std::move(step));
    for (Step& sum : sums)
      pass_.steps.push_back(std::move(sum));
    if (gradients == Gradients::Separate)
      late_.push_back({.what = Do::AdjointParameters,
                       .map = index,
                       .adjoint = true,
                       .reads = {dy},
                       .point = points_.of(map)});
  }

  const MapList& list_;
  const InInference& nodes_;
  Pass pass_;
  // By value of the list: whether its cotangent is needed, and whether a step has written it.
  std::vector<bool> wants_, reached_;
  Duals duals_;
  Points points_;
  std::vector<Step> late_;
};

} // namespace

std::vector<ValueId> savedIn(const MapList& list) {
  auto next = static_cast<ValueId>(list.values().size());
  std::vector<ValueId> saved;
  for (ValueId v = 0; v < static_cast<ValueId>(list.values().size()); ++v)
    saved.push_back(list.savesRounded(v) ? next++ : v);
  return saved;
}

std::vector<bool> recomputedNodes(const MapList& list, const Pass& pass) {
  std::vector<bool> nodes(std::max(1, list.nodes()), false);
  for (const Step& step : pass.steps)
    if (step.recomputed && step.what == Do::Forward)
      for (const int map : {step.map, step.epilogue})
        if (map >= 0)
          nodes[list.maps()[map].node] = true;
  return nodes;
}

bool addsToGradients(const MapList& list, const Step& step) {
  if (step.what == Do::AdjointParameters)
    return true;
  return step.what == Do::Adjoint &&
         list.kernels()[list.maps()[step.map].object].gradients == Gradients::Within;
}

// One step per map, in order. An operator adds to a value that has been written already; every
// other map overwrites its output. A kernel with an epilogue writes the output of the epilogue.
Pass applyPass(const MapList& list, Order order, const InInference& nodes, bool keeps) {
  Pass pass{.values = list.values(),
            .steps = {},
            .inputs = list.inputs(),
            .outputs = list.outputs(),
            .keeps = keeps};
  const std::vector<int> functions = epilogues(list, nodes, keeps);
  std::vector<bool> written(list.values().size(), false);
  for (std::size_t m = 0; m < list.maps().size(); ++m) {
    const Map& map = list.maps()[m];
    const int number = static_cast<int>(m);
    if (!runs(map, nodes) || std::ranges::find(functions, number) != functions.end())
      continue;
    Step step{.what = whatOf(list, map, Do::Forward), .map = number, .reads = map.x};
    step.epilogue = functions[m];
    if (map.kind != Map::Kind::Source) {
      const ValueId y = step.epilogue < 0 ? map.y : list.maps()[step.epilogue].y;
      step.writes = {y};
      step.adds = written[y] && map.kind == Map::Kind::Operator;
      written[y] = true;
    }
    pass.steps.push_back(std::move(step));
  }
  schedule(list, pass, order);
  if (keeps)
    addRoundings(list, pass);
  return pass;
}

Pass tangentPass(const MapList& list, const Chosen& present, Order order,
                 const InInference& nodes) {
  Pass pass;
  pass.ofTangents = true;
  Duals duals(list, pass, /*cotangents=*/false);
  Points points(list, pass, nodes);
  std::vector<bool> written(list.values().size(), false); // by value: has a nonzero tangent
  for (std::size_t i = 0; i < list.inputs().size(); ++i) {
    const ValueId x = list.inputs()[i];
    pass.inputs.push_back(present[i] ? duals.of(x) : kNoValue);
    written[x] = present[i];
  }
  for (std::size_t m = 0; m < list.maps().size(); ++m) {
    const Map& map = list.maps()[m];
    // A map whose input tangents are all zero is omitted. Exceptions: a part, because other maps
    // write only the rest of the value, and a kernel with parameters, which have tangents as well.
    const bool hasTangent = dependsOnAny(list, map, [&](ValueId v) { return written[v]; });
    if (!isDifferentiated(map, nodes) ||
        !(hasTangent || map.part || map.kind == Map::Kind::Source || hasGradients(list, map)))
      continue;
    Step step{.what = whatOf(list, map, Do::Tangent), .map = static_cast<int>(m)};
    const bool isSource = map.kind == Map::Kind::Kernel && list.kernels()[map.object].isSource;
    for (ValueId x : map.x)
      step.reads.push_back(written[x] && !isSource ? duals.of(x) : kNoValue);
    if (map.kind == Map::Kind::Kernel)
      step.point = points.of(map);
    if (map.kind != Map::Kind::Source) {
      step.writes = {duals.of(map.y)};
      step.adds = written[map.y] && map.kind == Map::Kind::Operator;
      written[map.y] = true;
    }
    pass.steps.push_back(std::move(step));
  }
  for (ValueId y : list.outputs()) {
    pass.outputs.push_back(duals.of(y));
    if (!written[y])
      pass.steps.push_back({.what = Do::Zero, .writes = {pass.outputs.back()}});
  }
  schedule(list, pass, order);
  addExpansions(pass);
  return pass;
}

Pass adjointPass(const MapList& list, const Chosen& wanted, Order order, const InInference& nodes) {
  Pass pass = AdjointDerivation(list, wanted, nodes).derive();
  schedule(list, pass, order);
  addExpansions(pass);
  return pass;
}

} // namespace tenon
