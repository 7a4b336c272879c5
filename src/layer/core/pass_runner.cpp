// SPDX-License-Identifier: BSD-2-Clause
// Runs the steps of a pass on this rank's tensors. Steps are the same on all ranks, so that what
// sends messages meets its counterpart; only whether a value stands in another's memory is known to
// this rank alone, and such a copy is left out.
#include "layer/core/pass_runner.hpp"

#include "dtensor/arithmetic.hpp"
#include "layer/core/recorded_steps.hpp"
#include "linop/exchange/conversion.hpp"

#include <algorithm>

namespace tenon {

namespace {

constexpr int kNoEvent = -1;

int kernelEvent() {
  static const int event = logEvent("LocalKernel");
  return event;
}

// The same, of tensors that are read.
Inputs asInputs(std::span<DTensor* const> tensors) {
  return {const_cast<const DTensor* const*>(tensors.data()), tensors.size()};
}

// The first error is the one to tell.
template <class F>
void finally(F&& f) noexcept {
  try {
    f();
  } catch (...) {
  }
}

// With who runs one step after the other, or several as one.
template <class Runner>
void runAll(const BoundMaps& maps, StepRunner& steps, Runner& runner) {
  const std::size_t count = steps.pass().steps.size();
  for (PassObserver* observer : maps.observers())
    observer->begins(maps, steps.pass(), steps.memory().completes);
  std::size_t s = 0;
  try {
    while (s < count) {
      s = runner.run(s);
      for (PassObserver* observer : maps.observers())
        observer->ran(s - 1, steps.took(), steps.tookByFunction());
    }
  } catch (...) {
    steps.endBegunBefore(s);
    throw;
  }
  for (PassObserver* observer : maps.observers())
    observer->ends();
}

} // namespace

void runPass(const BoundMaps& maps, const Pass& pass, const PassMemory& memory,
             RecordedSteps* recorded) {
  StepRunner steps(maps, pass, memory);
  // The log asks for the time of each step, which one recording of several has not.
  if (!recorded || logEnabled())
    return runAll(maps, steps, steps);
  RecordingRunner recording(steps, *recorded);
  runAll(maps, steps, recording);
}

std::size_t StepRunner::run(std::size_t s) {
  const Step& step = pass_.steps[s];
  took_ = function_ = {};
  if (!isInPlace(step) && !runStep(step))
    applyFunction(step);
  return s + 1;
}

// Each node has a row in the log, and a step counts for the node that its map is of. A function
// that the kernel does not apply itself counts for its own.
bool StepRunner::runStep(const Step& step) {
  bool isDone = true;
  const LogScope scope(step.map >= 0 ? maps_.event(mapOf(step)) : kNoEvent);
  switch (step.what) {
  case Do::Begin:
    begin(step);
    break;
  case Do::End:
    end(step);
    break;
  case Do::Apply:
    apply(step);
    break;
  case Do::Copy:
  case Do::Round:
  case Do::Expand:
    copyLocal(*at(step.reads[0]), *at(step.writes[0]));
    break;
  case Do::Add:
    axpby(1, *at(step.reads[0]), 1, *at(step.writes[0]));
    break;
  case Do::Zero:
    scaleArray(0, *at(step.writes[0]));
    break;
  case Do::Forward: {
    const LogScope ofKernel(kernelEvent());
    const BoundKernel& bound = maps_.kernel(mapOf(step).object);
    Several several;
    const Inputs x = asInputs(at(step.reads, several));
    DTensor& y = *at(step.writes[0]);
    if (step.epilogue < 0)
      bound.kernel->forwardMany(x, *bound.uses, y, workspaceOf(step));
    else
      isDone = bound.kernel->forwardThen(x, *bound.uses, maps_.function(step.epilogue), y);
    break;
  }
  case Do::Tangent:
  case Do::Adjoint:
  case Do::AdjointParameters:
    differentiate(step);
  }
  if (logEnabled() && step.map >= 0)
    took_ = logOpenScope();
  return isDone;
}

void StepRunner::applyFunction(const Step& step) {
  const LogScope scope(maps_.event(list_.maps()[step.epilogue]));
  {
    const LogScope ofKernel(kernelEvent());
    maps_.kernel(mapOf(step).object)
        .kernel->applyFunction(maps_.function(step.epilogue), *at(step.writes[0]));
  }
  function_ = logOpenScope();
}

std::span<DTensor* const> StepRunner::at(const std::vector<ValueId>& values,
                                         Several& several) const {
  for (std::size_t i = 0; i < values.size(); ++i)
    several[i] = at(values[i]);
  return {several.data(), values.size()};
}

Action StepRunner::actionOf(const Step& step) const {
  return {step.adjoint ? Sense::Adjoint : Sense::Forward, 1, at(step.reads[0]), step.adds ? 1. : 0.,
          at(step.writes[0])};
}

void StepRunner::begin(const Step& step) {
  const Map& map = mapOf(step);
  if (map.kind == Map::Kind::Source)
    return pass_.ofTangents ? maps_.source(map.object).beginTangent()
                            : maps_.source(map.object).begin();
  maps_.op(map.object).start(actionOf(step));
}

void StepRunner::end(const Step& step) {
  const Map& map = mapOf(step);
  if (map.kind == Map::Kind::Source)
    return pass_.ofTangents ? maps_.source(map.object).endTangent()
                            : maps_.source(map.object).end();
  maps_.op(map.object).finish();
}

void StepRunner::apply(const Step& step) {
  const Map& map = mapOf(step);
  if (map.kind == Map::Kind::Source) {
    begin(step);
    return end(step);
  }
  LinearOp& op = maps_.op(map.object);
  const Action action = actionOf(step);
  if (list_.operators()[map.object].kind == OperatorKind::Maximum)
    static_cast<Conversion&>(op).applyMax(*action.x, *action.y);
  else if (step.adjoint)
    op.applyAdjoint(1, *action.x, action.beta, *action.y);
  else
    op.apply(1, *action.x, action.beta, *action.y);
}

void StepRunner::differentiate(const Step& step) {
  const LogScope scope(kernelEvent());
  const Map& map = mapOf(step);
  const KernelEntry& entry = list_.kernels()[map.object];
  const BoundKernel& bound = maps_.kernel(map.object);
  LocalKernel& kernel = *bound.kernel;
  Several several, left;
  const std::span<DTensor* const> saved = at(step.point, left);
  KernelPoint point;
  point.workspace = workspaceOf(step);
  point.adds = step.adds;
  if (entry.keepsInputs) {
    point.inputs = asInputs(saved.first(map.x.size()));
    point.x = saved.front();
  }
  if (entry.keepsOutput)
    point.y = saved.back();
  if (step.what == Do::Tangent)
    return kernel.tangentMany(point, asInputs(at(step.reads, several)), *bound.uses,
                              *at(step.writes[0]));
  // That gradients change is said on all ranks, also where a rank has no element of them.
  if (addsToGradients(list_, step) && (step.what == Do::Adjoint || bound.wantsGradients()))
    bound.changeGradients();
  if (step.what == Do::Adjoint)
    kernel.adjointMany(point, *at(step.reads[0]), *bound.uses, at(step.writes, several));
  else if (bound.wantsGradients())
    kernel.adjointParameters(point, *at(step.reads[0]), *bound.uses);
}

void StepRunner::endBegunBefore(std::size_t failed) noexcept {
  const auto begin = pass_.steps.begin(), here = begin + static_cast<std::ptrdiff_t>(failed);
  for (auto step = here + 1; step < pass_.steps.end(); ++step) {
    if (step->what != Do::End || std::none_of(begin, here, [&](const Step& other) {
          return other.what == Do::Begin && other.map == step->map;
        }))
      continue;
    finally([&] { end(*step); });
  }
  for (PassObserver* observer : maps_.observers())
    finally([&] { observer->ends(); });
}

} // namespace tenon
