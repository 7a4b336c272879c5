// SPDX-License-Identifier: BSD-2-Clause
// Runs the steps of a pass on this rank's tensors.
// Steps are the same on all ranks, so that what sends messages meets its counterpart; only whether a value stands in
// another's memory is known to this rank alone, and such a step does nothing.
#include "layer/core/pass_runner.hpp"

#include "dtensor/arithmetic.hpp"
#include "linop/exchange/conversion.hpp"
#include "sys/log/log.hpp"

#include <algorithm>
#include <array>

namespace tenon {

namespace {

constexpr int kNoEvent = -1;

int kernelEvent() {
  static const int event = logEvent("LocalKernel");
  return event;
}

class Run {
public:
  Run(const BoundMaps& maps, const Pass& pass, const PassMemory& memory, RecordedSteps* recorded)
      : maps_(maps), list_(maps.list()), pass_(pass), memory_(memory),
        recorded_(logEnabled() ? nullptr : recorded) {}

  void all() {
    std::size_t s = 0;
    for (PassObserver* observer : maps_.observers())
      observer->begins(maps_, pass_, memory_.completes);
    try {
      while (s < pass_.steps.size()) {
        const std::size_t end = recorded_ ? endOfRun(s) : s;
        if (end > s)
          runRecorded(s, end);
        else
          run(pass_.steps[s]);
        s = std::max(end, s + 1);
        for (PassObserver* observer : maps_.observers())
          observer->ran(s - 1, took_);
      }
    } catch (...) {
      endBegunBefore(s);
      throw;
    }
    for (PassObserver* observer : maps_.observers())
      observer->ends();
  }

private:
  // A kernel's inputs, and its output.
  using Several = std::array<DTensor*, MapList::kMostInputs + 1>;

  const Map& mapOf(const Step& step) const { return list_.maps()[step.map]; }
  DTensor* at(ValueId v) const { return v == kNoValue ? nullptr : memory_.tensors[v]; }
  std::span<DTensor* const> at(const std::vector<ValueId>& values, Several& several) const {
    for (std::size_t i = 0; i < values.size(); ++i)
      several[i] = at(values[i]);
    return {several.data(), values.size()};
  }
  // The same, of tensors that are read.
  static Inputs asInputs(std::span<DTensor* const> tensors) {
    return {const_cast<const DTensor* const*>(tensors.data()), tensors.size()};
  }

  // A value that stands in another's memory is there already.
  bool isInPlace(const Step& step) const {
    return isCopy(step) && at(step.reads[0]) == at(step.writes[0]);
  }

  // Each node has a row in the log.
  void run(const Step& step) {
    took_ = {};
    if (isInPlace(step))
      return;
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
    case Do::Forward:
      forward(step, mapOf(step));
      break;
    case Do::Tangent:
    case Do::Adjoint:
    case Do::AdjointParameters:
      differentiate(step, mapOf(step));
    }
    if (logEnabled() && step.map >= 0)
      took_ = logOpenScope();
  }

  void begin(const Step& step) {
    const Map& map = mapOf(step);
    if (map.kind == Map::Kind::Source)
      return pass_.ofTangents ? maps_.source(map.object).beginTangent()
                              : maps_.source(map.object).begin();
    maps_.op(map.object).start(actionOf(step));
  }
  void end(const Step& step) {
    const Map& map = mapOf(step);
    if (map.kind == Map::Kind::Source)
      return pass_.ofTangents ? maps_.source(map.object).endTangent()
                              : maps_.source(map.object).end();
    maps_.op(map.object).finish();
  }
  void apply(const Step& step) {
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
  Action actionOf(const Step& step) const {
    return {step.adjoint ? Sense::Adjoint : Sense::Forward, 1, at(step.reads[0]),
            step.adds ? 1. : 0., at(step.writes[0])};
  }

  // Of steps that may be recorded as one; `begin` where there are none with work.
  std::size_t endOfRun(std::size_t begin) const {
    bool works = false;
    std::size_t end = begin;
    while (end < pass_.steps.size() && isRepeatable(pass_.steps[end])) {
      works = works || !isDone(pass_.steps[end]);
      const auto waits = [last = end](const PassObserver* observer) {
        return observer->waitsFor(last);
      };
      if (++end; std::ranges::any_of(maps_.observers(), waits))
        break;
    }
    return works ? end : begin;
  }
  // A value that is in its place, or a source that is up to date.
  bool isDone(const Step& step) const {
    return isInPlace(step) || (step.map >= 0 && mapOf(step).kind == Map::Kind::Source);
  }
  bool isRepeatable(const Step& step) const {
    if (step.map < 0 || isCopy(step))
      return true;
    const Map& map = mapOf(step);
    switch (map.kind) {
    case Map::Kind::Kernel:
      return maps_.kernel(map.object).kernel->isRepeatable();
    case Map::Kind::Operator:
      return list_.operators()[map.object].isLocal();
    case Map::Kind::Source:
      return maps_.source(map.object).isIdle(pass_.ofTangents);
    case Map::Kind::Stage:
      break;
    }
    return true;
  }
  void runRecorded(std::size_t begin, std::size_t end) {
    KernelContext& context = maps_.context();
    recorded_->clear();
    for (const void* address : context.scratchAddresses())
      recorded_->note(address);
    for (std::size_t s = begin; s < end; ++s)
      note(pass_.steps[s]);
    const auto runAll = [&] {
      for (std::size_t s = begin; s < end; ++s)
        run(pass_.steps[s]);
    };
    StreamRecording* recording = recorded_->find(begin, end);
    if (!recording)
      return runAll();
    if (!recording->exists())
      *recording = context.stream().recording(runAll);
    recording->queue(context.stream());
  }
  // What the step works on, and what it does on the host.
  void note(const Step& step) {
    recorded_->noteFlag(isDone(step));
    if (isDone(step))
      return;
    for (ValueId v : step.reads)
      recorded_->noteRead(at(v));
    for (ValueId v : step.writes)
      recorded_->noteWritten(at(v));
    for (ValueId v : step.point)
      recorded_->noteRead(at(v));
    if (step.map >= 0 && !isCopy(step) && mapOf(step).kind == Map::Kind::Kernel)
      noteKernel(step, mapOf(step));
  }
  void noteKernel(const Step& step, const Map& map) {
    const BoundKernel& bound = maps_.kernel(map.object);
    const Buffer* workspace = workspaceOf(step);
    recorded_->note(workspace ? workspace->data<void>() : nullptr);
    const bool adds = addsToGradients(list_, step) && bound.wantsGradients();
    if (adds)
      bound.changeGradients();
    for (const auto& use : *bound.uses) {
      recorded_->noteRead(&use->value());
      recorded_->noteRead(step.what == Do::Tangent ? use->tangent() : nullptr);
      recorded_->noteFlag(use->isFrozen());
      if (adds && !use->isFrozen())
        recorded_->noteWritten(&use->gradientAddends());
    }
  }

  void forward(const Step& step, const Map& map) {
    const LogScope scope(kernelEvent());
    const BoundKernel& bound = maps_.kernel(map.object);
    Several several;
    bound.kernel->forwardMany(asInputs(at(step.reads, several)), *bound.uses, *at(step.writes[0]),
                              workspaceOf(step));
  }
  void differentiate(const Step& step, const Map& map) {
    const LogScope scope(kernelEvent());
    const BoundKernel& bound = maps_.kernel(map.object);
    LocalKernel& kernel = *bound.kernel;
    Several several, kept;
    const KernelEntry& entry = list_.kernels()[map.object];
    const std::span<DTensor* const> left = at(step.point, kept);
    KernelPoint point;
    point.workspace = workspaceOf(step);
    point.adds = step.adds;
    if (entry.keepsInputs) {
      point.inputs = asInputs(left.first(map.x.size()));
      point.x = left.front();
    }
    if (entry.keepsOutput)
      point.y = left.back();
    if (step.what == Do::Tangent)
      kernel.tangentMany(point, asInputs(at(step.reads, several)), *bound.uses,
                         *at(step.writes[0]));
    else if (step.what == Do::Adjoint) {
      if (entry.gradients == Gradients::Within)
        bound.changeGradients();
      kernel.adjointMany(point, *at(step.reads[0]), *bound.uses, at(step.writes, several));
    } else if (bound.wantsGradients()) {
      bound.changeGradients();
      kernel.adjointParameters(point, *at(step.reads[0]), *bound.uses);
    }
  }
  Buffer* workspaceOf(const Step& step) const {
    return memory_.workspaces ? memory_.workspaces + step.map : nullptr;
  }

  void endBegunBefore(std::size_t failed) noexcept {
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
  // The first error is the one to tell.
  template <class F>
  static void finally(F&& f) noexcept {
    try {
      f();
    } catch (...) {
    }
  }

  const BoundMaps& maps_;
  const MapList& list_;
  const Pass& pass_;
  const PassMemory& memory_;
  RecordedSteps* recorded_;
  OpenScope took_; // what the last step took alone; zeros while the log is off
};

} // namespace

void runPass(const BoundMaps& maps, const Pass& pass, const PassMemory& memory,
             RecordedSteps* recorded) {
  Run(maps, pass, memory, recorded).all();
}

} // namespace tenon
