// SPDX-License-Identifier: BSD-2-Clause
// Splits operators that send messages (halo exchanges, conversions of layouts) into two steps,
// Begin and End, and moves the two apart to overlap communication with computation:
//
//   before   kernel 1, Begin, End, kernel 2, kernel 3 (reads the result)
//   after    Begin, kernel 1, kernel 2, End, kernel 3
//
// This happens once, when passes are derived, and is the same on all ranks. A Begin never overtakes
// another Begin, so messages are sent in the order in which they are needed. A step only changes
// places with its neighbour, so each move compares just two steps. At the end, a Begin with its End
// directly after it becomes one step Apply again. The last function finds the lifetimes of values,
// from the first to the last step that uses them. The functions are declared in pass.hpp.
#include "declaration/core/pass.hpp"

#include <algorithm>
#include <map>

namespace tenon {

namespace {

class Scheduler {
public:
  Scheduler(const MapList& list, Pass& pass) : list_(list), pass_(pass), steps_(pass.steps) {}

  void split() {
    for (std::size_t s = 0; s < steps_.size(); ++s)
      if (steps_[s].what == Do::Begin) {
        Step end = steps_[s];
        end.what = Do::End;
        steps_.insert(steps_.begin() + static_cast<std::ptrdiff_t>(++s), std::move(end));
      }
  }

  // First the Begins move up, from the first to the last, then the Ends move down, from the last to
  // the first. Each moves as far as it can, since the duration of kernels is not known here.
  void move() {
    for (std::size_t s = 0; s < steps_.size(); ++s)
      for (std::size_t k = s;
           steps_[k].what == Do::Begin && k > 0 && passesUp(steps_[k], steps_[k - 1]); --k)
        std::swap(steps_[k], steps_[k - 1]);
    for (std::size_t s = steps_.size(); s-- > 0;)
      for (std::size_t k = s; steps_[k].what == Do::End && k + 1 < steps_.size() &&
                              passesDown(steps_[k], steps_[k + 1]);
           ++k)
        std::swap(steps_[k], steps_[k + 1]);
  }

  // Joins a Begin and the End directly after it into one Apply.
  void join() {
    std::vector<Step> joined;
    for (Step& step : steps_) {
      if (step.what == Do::End && !joined.empty() && joined.back().what == Do::Begin &&
          joined.back().map == step.map)
        joined.back().what = Do::Apply;
      else
        joined.push_back(std::move(step));
    }
    steps_ = std::move(joined);
  }

private:
  // The argument whose memory a value can use, or the value itself.
  ValueId memory(ValueId v) const {
    return pass_.values[v].sharesMemoryOf == kNoValue ? v : pass_.values[v].sharesMemoryOf;
  }
  bool contains(const std::vector<ValueId>& values, ValueId v) const {
    return std::any_of(values.begin(), values.end(), [&](ValueId other) {
      return other != kNoValue && memory(other) == memory(v);
    });
  }
  bool reads(const Step& step, ValueId v) const {
    // A step that adds to a value also reads it.
    const bool addsHere = step.what == Do::Add || (step.what == Do::Adjoint && step.adds);
    // The point can be written by steps of this pass that run again.
    return contains(step.reads, v) || contains(step.point, v) ||
           (addsHere && contains(step.writes, v));
  }
  bool writes(const Step& step, ValueId v) const {
    // An operator that adds receives into its own buffer and writes y only at its end; one that
    // overwrites y can copy its local part at the beginning.
    if (step.what == Do::Begin && step.adds)
      return false;
    if (step.what == Do::Copy && pass_.values[step.writes[0]].sharesMemoryOf == step.reads[0])
      return v == step.writes[0]; // the argument itself does not change
    return contains(step.writes, v);
  }
  bool touches(const Step& step, ValueId v) const { return reads(step, v) || writes(step, v); }

  // The map of a step that runs an operator or a source, or null.
  const Map* movement(const Step& step) const {
    const bool moves = step.what == Do::Begin || step.what == Do::End || step.what == Do::Apply;
    return moves ? &list_.maps()[step.map] : nullptr;
  }
  bool isSource(const Step& step) const { return list_.maps()[step.map].kind == Map::Kind::Source; }
  bool sameObject(const Step& a, const Step& b) const {
    // An operator has one set of buffers and requests, so it must end before it begins again.
    const Map *one = movement(a), *other = movement(b);
    return one && other && one->kind == other->kind && one->object == other->object;
  }
  bool usesSource(const Step& step, int source) const {
    if (step.map < 0 || list_.maps()[step.map].kind != Map::Kind::Kernel)
      return false;
    const std::vector<int>& used = list_.kernels()[list_.maps()[step.map].object].sources;
    return std::find(used.begin(), used.end(), source) != used.end();
  }

  // Whether a Begin can change places with the step before it, and an End with the step after it. A
  // source has no values in the pass: it can begin at any time, and must end before a kernel that
  // reads it.
  bool passesUp(const Step& begin, const Step& step) const {
    if (step.what == Do::Begin || sameObject(begin, step))
      return false;
    if (isSource(begin))
      return true;
    // A recomputed step could move to the start of the pass, and its result would occupy memory
    // from there on.
    if (begin.recomputed && !step.recomputed)
      return false;
    // An operator that adds does not write y before its End (see writes()).
    return !writes(step, begin.reads[0]) && (begin.adds || !touches(step, begin.writes[0]));
  }
  bool passesDown(const Step& end, const Step& step) const {
    if (sameObject(end, step))
      return false;
    if (isSource(end))
      return !usesSource(step, list_.maps()[end.map].object);
    return !writes(step, end.reads[0]) && !touches(step, end.writes[0]);
  }

  const MapList& list_;
  Pass& pass_;
  std::vector<Step>& steps_;
};

} // namespace

void schedule(const MapList& list, Pass& pass, Order order) {
  Scheduler scheduler(list, pass);
  scheduler.split();
  if (order == Order::Overlapped)
    scheduler.move();
  scheduler.join();
}

std::vector<Lifetime> lifetimes(const Pass& pass) {
  // Sorted by value id, to assign memory in the same order on all ranks.
  std::map<ValueId, Lifetime> byValue;
  for (int s = 0; s < static_cast<int>(pass.steps.size()); ++s)
    for (const auto& values : {pass.steps[s].reads, pass.steps[s].writes, pass.steps[s].point})
      for (ValueId v : values)
        if (v != kNoValue && pass.values[v].place == Value::Place::Own)
          byValue.try_emplace(v, Lifetime{v, s, s}).first->second.last = s;
  std::vector<Lifetime> sorted;
  for (const auto& [value, lifetime] : byValue)
    sorted.push_back(lifetime);
  return sorted;
}

} // namespace tenon
