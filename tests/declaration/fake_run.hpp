// SPDX-License-Identifier: BSD-2-Clause
// Runs the passes of a random list (random_list.hpp) on one process, in place of the runner of
// module `layer`. It is as strict as a parallel run allows, and reports mistakes of a pass as NaN
// in the result or as std::logic_error:
//
//   memory without a value is NaN, and so are values that a derivative reads but Apply did not save
//   an operator that overwrites makes its result NaN at its Begin, and then writes every second
//   cell, like messages that arrive early, and the others at its End
//   the operand of an operator must not change between its Begin and its End
//   an operator has at most one action between Begin and End
//   a kernel must not run before the sources of its weights have ended
//
// Values can share memory (place()): writing one makes all others that overlap it NaN. Roundings
// are to float.
#pragma once

#include "declaration/core/memory_plan.hpp"
#include "random_list.hpp"

#include <limits>
#include <map>
#include <optional>
#include <stdexcept>

namespace tenon::test {

inline const Cells kNothing(kCells, std::numeric_limits<double>::quiet_NaN());

// Runs the passes of a random list on arrays of cells, without operators and kernels of the
// library.
class FakeRun {
public:
  // `contiguous`: the caller's arrays are contiguous, and staged values use their memory.
  FakeRun(const RandomList& random, bool contiguous) : random_(random), contiguous_(contiguous) {}

  Cells apply(const Pass& pass) {
    isRounded_.assign(pass.values.size(), false);
    start(pass);
    for (std::size_t i = 0; i < random_.inputs.size(); ++i)
      memory(pass.inputs[i]) = random_.inputs[i];
    for (ValueId v = 0; v < static_cast<ValueId>(pass.values.size()); ++v)
      if (pass.values[v].place == Value::Place::Constant)
        memory(v) = random_.constants[pass.values[v].constant];
    run(pass);
    point_.clear();
    for (ValueId v = 0; v < static_cast<ValueId>(pass.values.size()); ++v)
      point_.push_back(pass.values[v].saved || pass.values[v].place == Value::Place::Constant
                           ? memory(v)
                           : kNothing);
    return memory(pass.outputs.front());
  }
  // Rounds the values that Apply has saved, for comparison with a list that saves roundings.
  void roundPoint(const MapList& rounding) {
    for (ValueId v = 0; v < static_cast<ValueId>(point_.size()); ++v)
      if (rounding.savesRounded(v) && !(rounding.values()[v].isUserSupplied() && contiguous_))
        point_[v] = rounded(point_[v]);
  }
  Cells tangent(const Pass& pass, const std::vector<Cells>& dx, const std::vector<Cells>& dw) {
    start(pass);
    weightTangents_ = dw;
    for (std::size_t i = 0; i < dx.size(); ++i)
      if (pass.inputs[i] != kNoValue)
        memory(pass.inputs[i]) = dx[i];
    run(pass);
    return memory(pass.outputs.front());
  }
  // The cotangents of the inputs, NaN for inputs whose cotangent is not requested. Sets
  // `gradients`.
  std::vector<Cells> adjoint(const Pass& pass, const Cells& dy) {
    start(pass);
    gradients.assign(random_.weights.size(), Cells(kCells, 0));
    memory(pass.outputs.front()) = dy;
    run(pass);
    std::vector<Cells> dx;
    for (ValueId v : pass.inputs)
      dx.push_back(v == kNoValue ? kNothing : memory(v));
    return dx;
  }
  std::vector<Cells> gradients;
  // The memory that the values of the next pass share.
  void place(std::vector<MemoryPlan::Place> places) { places_ = std::move(places); }

private:
  // An operator between Begin and End: its operand, and a copy of its cells at the Begin.
  struct Flight {
    ValueId x;
    Cells operand;
  };

  void start(const Pass& pass) {
    pass_ = &pass;
    memory_.assign(pass.values.size(), kNothing);
    for (ValueId v = 0; v < static_cast<ValueId>(pass.values.size()); ++v)
      if (pass.values[v].place == Value::Place::Saved)
        memory_[v] = point_[pass.values[v].of];
    flights_.clear();
    begun_.clear();
    ended_.clear();
  }
  // The cells of a value, which can be those of another value whose memory it uses.
  Cells& memory(ValueId v) {
    const ValueId sharesMemoryOf = pass_->values[v].sharesMemoryOf;
    if (sharesMemoryOf == kNoValue)
      return memory_[v];
    const Value& other = pass_->values[sharesMemoryOf];
    const bool isShared = other.place == Value::Place::Saved ? !isRounded_[other.of] : contiguous_;
    return memory_[isShared ? sharesMemoryOf : v];
  }
  static Cells rounded(Cells x) {
    for (double& cell : x)
      cell = static_cast<float>(cell);
    return x;
  }
  const Map& mapOf(const Step& step) const { return random_.list.maps()[step.map]; }

  void run(const Pass& pass) {
    for (const Step& step : pass.steps) {
      run(step);
      for (ValueId written : step.writes)
        spoilOthers(written);
    }
    if (!flights_.empty())
      throw std::logic_error("an operator is in flight at the end");
  }
  // Makes the values that overlap a written one NaN.
  void spoilOthers(ValueId written) {
    for (const MemoryPlan::Place& place : places_)
      for (const MemoryPlan::Place& other : places_)
        if (place.value == written && other.value != written && place.begin < other.end &&
            other.begin < place.end)
          memory_[other.value] = kNothing;
  }
  void run(const Step& step) {
    switch (step.what) {
    case Do::Begin:
      return begin(step);
    case Do::End:
      return end(step);
    case Do::Apply:
      begin(step);
      return end(step);
    case Do::Copy:
    case Do::Round:
    case Do::Expand:
      return copy(step);
    case Do::Add:
      return add(memory(step.reads[0]), memory(step.writes[0]));
    case Do::Zero:
      memory(step.writes[0]) = Cells(kCells, 0);
      return;
    case Do::Forward:
      return forward(step, mapOf(step));
    case Do::Tangent:
      return tangent(step, mapOf(step));
    case Do::Adjoint:
      return adjoint(step, mapOf(step));
    case Do::AdjointParameters:
      return addGradients(memory(step.reads[0]), step);
    }
  }
  void copy(const Step& step) {
    const Cells& x = memory(step.reads[0]);
    Cells& y = memory(step.writes[0]);
    if (&x == &y)
      return;
    y = step.what == Do::Round ? rounded(x) : x;
    if (step.what == Do::Round)
      isRounded_[step.writes[0]] = true;
  }
  static void add(const Cells& x, Cells& y) {
    for (int i = 0; i < kCells; ++i)
      y[i] += x[i];
  }

  void begin(const Step& step) {
    const Map& map = mapOf(step);
    if (map.kind == Map::Kind::Source) {
      begun_[map.object] = true;
      return;
    }
    if (!flights_.emplace(map.object, Flight{step.reads[0], memory(step.reads[0])}).second)
      throw std::logic_error("the operator has an action in flight");
    if (step.adds)
      return;
    const Cells result = resultOf(step);
    memory(step.writes[0]) = kNothing;
    for (int i = 0; i < kCells; i += 2)
      memory(step.writes[0])[i] = result[i];
  }
  void end(const Step& step) {
    const Map& map = mapOf(step);
    if (map.kind == Map::Kind::Source) {
      if (!begun_[map.object])
        throw std::logic_error("a source ends that has not begun");
      ended_[map.object] = true;
      return;
    }
    const auto flight = flights_.find(map.object);
    if (flight == flights_.end() || flight->second.x != step.reads[0])
      throw std::logic_error("an operator ends that has not begun");
    for (int i = 0; i < kCells; ++i)
      if (!(memory(step.reads[0])[i] == flight->second.operand[i]))
        throw std::logic_error("an operand has no value, or changed in flight");
    flights_.erase(flight);
    const Cells result = resultOf(step);
    if (step.adds)
      return add(result, memory(step.writes[0]));
    for (int i = 1; i < kCells; i += 2)
      memory(step.writes[0])[i] = result[i];
  }
  // What the operator of a step adds to its result, or writes.
  Cells resultOf(const Step& step) {
    return times(random_.operators[mapOf(step).object], memory(step.reads[0]), step.adjoint);
  }

  const FakeKernel& kernelOf(const Map& map) const { return random_.kernels[map.object]; }
  double weight(const Map& map, int cell) const {
    const int weights = kernelOf(map).weights;
    return weights < 0 ? 0 : random_.weights[weights][cell];
  }
  void checkSources(const Map& map) {
    for (int source : random_.list.kernels()[map.object].sources)
      if (!ended_[source])
        throw std::logic_error("a kernel runs before its weights are there");
  }
  // The inputs that the kernel has saved, NaN if it saves none.
  std::vector<double> savedInputs(const Step& step, int cell) {
    const Map& map = mapOf(step);
    std::vector<double> x(map.x.size(), kNothing[0]);
    for (std::size_t i = 0; random_.list.kernels()[map.object].savesInputs && i < x.size(); ++i)
      x[i] = memory(step.point[i])[cell];
    return x;
  }
  double derivative(const Step& step, int input, int cell) {
    const Map& map = mapOf(step);
    const double y = random_.list.kernels()[map.object].savesOutput
                         ? memory(step.point.back())[cell]
                         : kNothing[0];
    return kernelOf(map).derivative(input, savedInputs(step, cell), y, weight(map, cell));
  }

  void forward(const Step& step, const Map& map) {
    if (!step.recomputed) // the weights that Apply has converted are still there
      checkSources(map);
    for (int i = 0; i < kCells; ++i) {
      std::vector<double> x;
      for (ValueId v : step.reads)
        x.push_back(memory(v)[i]);
      if (!kernelOf(map).writes(i))
        continue;
      double& y = memory(step.writes[0])[i];
      y = kernelOf(map).value(x, weight(map, i));
      if (step.epilogue >= 0)
        y = kernelOf(random_.list.maps()[step.epilogue]).value({y}, 0);
    }
  }
  void tangent(const Step& step, const Map& map) {
    checkSources(map);
    for (int i = 0; i < kCells; ++i) {
      if (!kernelOf(map).writes(i))
        continue;
      double sum = 0;
      for (std::size_t k = 0; k < step.reads.size(); ++k)
        if (step.reads[k] != kNoValue)
          sum += derivative(step, static_cast<int>(k), i) * memory(step.reads[k])[i];
      if (kernelOf(map).weights >= 0)
        sum += savedInputs(step, i)[0] * weightTangents_[kernelOf(map).weights][i];
      memory(step.writes[0])[i] = sum;
    }
  }
  void adjoint(const Step& step, const Map& map) {
    const Cells dy = memory(step.reads[0]);
    for (std::size_t k = 0; k < step.writes.size(); ++k)
      for (int i = 0; step.writes[k] != kNoValue && i < kCells; ++i)
        memory(step.writes[k])[i] =
            (step.adds ? memory(step.writes[k])[i] : 0) +
            (kernelOf(map).writes(i) ? derivative(step, static_cast<int>(k), i) * dy[i] : 0);
    if (random_.list.kernels()[map.object].gradients == Gradients::Within)
      addGradients(dy, step);
  }
  void addGradients(const Cells& dy, const Step& step) {
    for (int i = 0; i < kCells; ++i)
      gradients[kernelOf(mapOf(step)).weights][i] += savedInputs(step, i)[0] * dy[i];
  }

  const RandomList& random_;
  bool contiguous_;
  const Pass* pass_ = nullptr;
  std::vector<Cells> memory_, weightTangents_;
  std::vector<Cells> point_;    // by value of Apply's pass: what it has saved
  std::vector<bool> isRounded_; // by value of Apply's pass
  std::vector<MemoryPlan::Place> places_;
  std::map<int, Flight> flights_;
  std::map<int, bool> begun_, ended_; // by source
};

} // namespace tenon::test
