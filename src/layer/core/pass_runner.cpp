// SPDX-License-Identifier: BSD-2-Clause
// Runs the steps of a pass (Apply, tangent or adjoint) on this rank's tensors. All ranks call
// runPass() with the same steps, so every send has its receive. The only difference between ranks
// is local: a copy is skipped on ranks where the copied value uses the memory of its source.
//
//   runPass()            loop over the steps, with observers before, between and after them
//   StepRunner::run()    one step: a switch over what the step does (enum Do)
//   endBegunBefore()     after an error: completes the exchanges that this rank has begun, because
//                        other ranks wait for their messages
//
// Most steps run a map of the list (map_list.hpp): an operator communicates, a kernel computes, and
// a source updates an array that kernels read, such as a parameter. An epilogue is an elementwise
// function that a kernel can apply to its own output; otherwise it is applied in a second call.
#include "layer/core/pass_runner.hpp"

#include "dtensor/arithmetic.hpp"
#include "layer/core/recorded_steps.hpp"
#include "linop/exchange/conversion.hpp"

#include <algorithm>

namespace tenon {

namespace {

constexpr int kNoEvent = -1;

// The row of the log for the time of all local kernels.
int kernelEvent() {
  static const int event = logEvent("LocalKernel");
  return event;
}

// Returns the same tensors for reading.
Inputs asInputs(std::span<DTensor* const> tensors) {
  return {const_cast<const DTensor* const*>(tensors.data()), tensors.size()};
}

// Runs f and ignores its errors: the first error is reported.
template <class F>
void ignoringErrors(F&& f) noexcept {
  try {
    f();
  } catch (...) {
  }
}

// Runs all steps. `runner` executes them one by one (StepRunner), or several as one recording
// (RecordingRunner).
template <class Runner>
void runAll(StepRunner& steps, Runner& runner) {
  const BoundMaps& maps = steps.maps();
  const std::size_t count = steps.pass().steps.size();
  for (PassObserver* observer : maps.observers())
    observer->begins(maps, steps.pass(), steps.memory().completes);
  std::size_t s = 0;
  try {
    while (s < count) {
      s = runner.run(s);
      for (PassObserver* observer : maps.observers())
        observer->ran(s - 1, steps.took(), steps.tookByEpilogue());
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
  // The log needs the time of each step, which a recording of several steps does not provide.
  if (!recorded || logEnabled())
    return runAll(steps, steps);
  RecordingRunner recording(steps, *recorded);
  runAll(steps, recording);
}

std::size_t StepRunner::run(std::size_t s) {
  const Step& step = pass_.steps[s];
  took_ = epilogueTook_ = {};
  if (!isInPlace(step) && !runStep(step))
    applyEpilogue(step);
  return s + 1;
}

// Each node (a layer of the network) has a row in the log, which gets the time of the node's steps.
// The time of an epilogue that the kernel does not apply itself goes to the node of the epilogue.
bool StepRunner::runStep(const Step& step) {
  bool epilogueIsDone = true;
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
  case Do::Expand: // copyLocal() also converts between the number formats.
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
    KernelTensors tensors;
    const Inputs x = asInputs(at(step.reads, tensors));
    DTensor& y = *at(step.writes[0]);
    if (infer(step, x, y))
      break;
    if (step.epilogue < 0)
      bound.kernel->forwardMany(x, *bound.uses, y, workspaceOf(step));
    else // kernels that can apply an epilogue need no workspace
      epilogueIsDone = bound.kernel->forwardThen(x, *bound.uses, maps_.function(step.epilogue), y);
    break;
  }
  case Do::Tangent:
  case Do::Adjoint:
  case Do::AdjointParameters:
    differentiate(step);
  }
  if (logEnabled() && step.map >= 0)
    took_ = logTotalsOfOpenScope();
  return epilogueIsDone;
}

// With a folded normalisation, the last input of the step is that of its statistics.
bool StepRunner::infer(const Step& step, Inputs x, DTensor& y) {
  if (!memory_.inference)
    return false;
  const BoundKernel& bound = maps_.kernel(mapOf(step).object);
  Finish finish;
  if (step.epilogue >= 0)
    finish.function = &maps_.function(step.epilogue);
  if (const FoldedChannels* folded = memory_.inference->foldedIn(step.map)) {
    const BoundKernel& normalisation = maps_.kernel(list_.maps()[folded->map].object);
    const DTensor* const inputs[] = {nullptr, x.back()}; // the scaling does not need the first one
    normalisation.kernel->channelScaling(inputs, *normalisation.uses, folded->scale, folded->shift);
    finish.scale = folded->scale.data();
    finish.shift = folded->shift.data();
    x = x.first(x.size() - 1);
  }
  return bound.kernel->infer(x, *bound.uses, finish, y);
}

void StepRunner::applyEpilogue(const Step& step) {
  const LogScope scope(maps_.event(list_.maps()[step.epilogue]));
  {
    const LogScope ofKernel(kernelEvent());
    maps_.kernel(mapOf(step).object)
        .kernel->applyFunction(maps_.function(step.epilogue), *at(step.writes[0]));
  }
  epilogueTook_ = logTotalsOfOpenScope();
}

std::span<DTensor* const> StepRunner::at(const std::vector<ValueId>& values,
                                         KernelTensors& tensors) const {
  for (std::size_t i = 0; i < values.size(); ++i)
    tensors[i] = at(values[i]);
  return {tensors.data(), values.size()};
}

Action StepRunner::actionOf(const Step& step) const {
  return {.sense = step.adjoint ? Sense::Adjoint : Sense::Forward,
          .alpha = 1,
          .x = at(step.reads[0]),
          .beta = step.adds ? 1. : 0.,
          .y = at(step.writes[0])};
}

void StepRunner::begin(const Step& step) {
  const Map& map = mapOf(step);
  if (map.kind == Map::Kind::Source)
    return pass_.ofTangents ? maps_.source(map.object).beginTangent()
                            : maps_.source(map.object).begin();
  if (!isWithinRank(map))
    maps_.op(map.object).start(actionOf(step));
}

void StepRunner::end(const Step& step) {
  const Map& map = mapOf(step);
  if (map.kind == Map::Kind::Source)
    return pass_.ofTangents ? maps_.source(map.object).endTangent()
                            : maps_.source(map.object).end();
  // Without messages the whole action is here: the steps between can be another recording.
  if (isWithinRank(map))
    apply(step);
  else
    maps_.op(map.object).finish();
}

bool StepRunner::isWithinRank(const Map& map) const {
  return map.kind == Map::Kind::Operator && maps_.op(map.object).isWithinRank();
}

void StepRunner::apply(const Step& step) {
  const Map& map = mapOf(step);
  if (map.kind == Map::Kind::Source) {
    begin(step);
    return end(step);
  }
  LinearOp& op = maps_.op(map.object);
  const Action action = actionOf(step);
  // The maximum of contributions instead of their sum: not linear, so it has no factors.
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
  KernelTensors tensors, pointTensors;
  // The point of differentiation consists of the values that Apply has saved.
  const std::span<DTensor* const> saved = at(step.point, pointTensors);
  KernelPoint point;
  point.workspace = workspaceOf(step);
  point.adds = step.adds;
  if (entry.savesInputs) {
    point.inputs = asInputs(saved.first(map.x.size()));
    point.x = saved.front();
  }
  if (entry.savesOutput)
    point.y = saved.back();
  if (step.what == Do::Tangent)
    return kernel.tangentMany(point, asInputs(at(step.reads, tensors)), *bound.uses,
                              *at(step.writes[0]));
  // All ranks call changeGradients(), also a rank without elements of the gradient, because the
  // reduction of the gradient is collective. Gradients of frozen parameters do not change.
  if (addsToGradients(list_, step) && bound.wantsGradients())
    bound.changeGradients();
  if (step.what == Do::Adjoint)
    kernel.adjointMany(point, *at(step.reads[0]), *bound.uses, at(step.writes, tensors));
  else if (bound.wantsGradients())
    kernel.adjointParameters(point, *at(step.reads[0]), *bound.uses);
}

void StepRunner::endBegunBefore(std::size_t failed) noexcept {
  const auto begin = pass_.steps.begin(), failedStep = begin + static_cast<std::ptrdiff_t>(failed);
  for (auto step = failedStep + 1; step < pass_.steps.end(); ++step) {
    if (step->what != Do::End || isWithinRank(mapOf(*step)) ||
        std::none_of(begin, failedStep, [&](const Step& other) {
          return other.what == Do::Begin && other.map == step->map;
        }))
      continue;
    ignoringErrors([&] { end(*step); });
  }
  for (PassObserver* observer : maps_.observers())
    ignoringErrors([&] { observer->ends(); });
}

} // namespace tenon
