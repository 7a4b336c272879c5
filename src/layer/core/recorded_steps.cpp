// SPDX-License-Identifier: BSD-2-Clause
// Recognises repeated ranges of steps, and launches each as one recording (a CUDA graph), because
// launching one graph takes the host less time than launching many short kernels. A recording
// repeats device work at fixed addresses, but nothing that the host does. Before a launch, the
// addresses of all tensors that the steps read and write are therefore listed (noted), with the
// side effects of using them, such as allocation. A recording is only launched if its list equals
// that of the present run.
#include "layer/core/recorded_steps.hpp"

#include <algorithm>

namespace tenon {

void RecordedSteps::noteStrides(const DTensor& tensor) {
  if (tensor.isContiguous())
    return;
  for (int d = 0; d < tensor.ndim(); ++d)
    noted_.push_back(static_cast<std::uintptr_t>(tensor.strides()[d]));
}

void RecordedSteps::noteRead(const DTensor* tensor) {
  note(tensor ? tensor->readAddress() : nullptr);
  if (tensor)
    noteStrides(*tensor);
}

void RecordedSteps::noteWritten(DTensor* tensor) {
  note(tensor ? tensor->writeAddress() : nullptr);
  if (tensor)
    noteStrides(*tensor);
}

StreamRecording* RecordedSteps::find(std::size_t begin, std::size_t end) {
  std::vector<Known>& known = known_[begin];
  const auto match = std::find_if(known.rbegin(), known.rend(), [&](const Known& entry) {
    return entry.end == end && entry.noted == noted_;
  });
  if (match != known.rend())
    return &match->recording;
  // The oldest recording is replaced.
  if (known.size() == kMax)
    known.erase(known.begin());
  known.push_back({end, noted_, {}});
  return nullptr;
}

// The number of recordings that were made; ranges that ran only once have none yet.
int RecordedSteps::count() const noexcept {
  int count = 0;
  for (const std::vector<Known>& known : known_)
    for (const Known& entry : known)
      count += entry.recording.exists();
  return count;
}

std::size_t RecordingRunner::run(std::size_t s) {
  const std::vector<Step>& steps = steps_.pass().steps;
  const std::size_t end = endOfRun(s);
  if (end == s)
    return steps_.run(s);
  KernelContext& context = steps_.maps().context();
  recorded_.clear();
  for (const void* address : context.scratchAddresses())
    recorded_.note(address);
  for (std::size_t k = s; k < end; ++k)
    note(steps[k]);
  const auto runAll = [&] {
    for (std::size_t k = s; k < end; ++k)
      steps_.run(k);
  };
  StreamRecording* recording = recorded_.find(s, end);
  // The first run with these addresses is not recorded: its kernels can still create objects.
  if (!recording) {
    runAll();
    return end;
  }
  if (!recording->exists())
    *recording = context.stream().recording(runAll);
  recording->queue(context.stream());
  return end;
}

// A range ends before a step that cannot be recorded, and after a step for which an observer waits.
std::size_t RecordingRunner::endOfRun(std::size_t begin) const {
  const std::vector<Step>& steps = steps_.pass().steps;
  bool hasWork = false;
  std::size_t end = begin;
  while (end < steps.size() && isRepeatable(steps[end])) {
    hasWork = hasWork || !isDone(steps[end]);
    const auto isAwaited = [last = end](const PassObserver* observer) {
      return observer->waitsFor(last);
    };
    if (++end; std::ranges::any_of(steps_.maps().observers(), isAwaited))
      break;
  }
  return hasWork ? end : begin;
}

bool RecordingRunner::isRepeatable(const Step& step) const {
  if (step.map < 0 || isCopy(step))
    return true;
  const BoundMaps& maps = steps_.maps();
  const Map& map = steps_.mapOf(step);
  switch (map.kind) {
  case Map::Kind::Kernel:
    return maps.kernel(map.object).kernel->isRepeatable();
  case Map::Kind::Operator:
    return maps.list().operators()[map.object].isLocal() || maps.op(map.object).isWithinRank();
  case Map::Kind::Source:
    return maps.source(map.object).isIdle(steps_.pass().ofTangents);
  case Map::Kind::Stage:
    break;
  }
  return true;
}

// Whether the step has no device work: a copy whose result uses the memory of its source, or a
// source such as a parameter (sources that need an update end the range, see isRepeatable()).
bool RecordingRunner::isDone(const Step& step) const {
  return steps_.isInPlace(step) || (step.map >= 0 && steps_.mapOf(step).kind == Map::Kind::Source);
}

// Notes the arrays that the step uses, and whether the step has work.
void RecordingRunner::note(const Step& step) {
  recorded_.noteFlag(isDone(step));
  if (isDone(step))
    return;
  for (ValueId v : step.reads)
    recorded_.noteRead(steps_.at(v));
  for (ValueId v : step.writes)
    recorded_.noteWritten(steps_.at(v));
  for (ValueId v : step.point)
    recorded_.noteRead(steps_.at(v));
  if (step.map >= 0 && !isCopy(step) && steps_.mapOf(step).kind == Map::Kind::Kernel)
    noteKernel(step);
}

void RecordingRunner::noteKernel(const Step& step) {
  const BoundKernel& bound = steps_.maps().kernel(steps_.mapOf(step).object);
  const Buffer* workspace = steps_.workspaceOf(step);
  recorded_.note(workspace ? workspace->data<void>() : nullptr);
  const bool adds = addsToGradients(steps_.maps().list(), step) && bound.wantsGradients();
  // A launch of the recording adds to the gradients, but does not mark them as changed.
  if (adds)
    bound.changeGradients();
  for (const auto& use : *bound.uses) {
    recorded_.noteRead(&use->value());
    recorded_.noteRead(step.what == Do::Tangent ? use->tangent() : nullptr);
    recorded_.noteFlag(use->isFrozen());
    if (adds && !use->isFrozen())
      recorded_.noteWritten(&use->gradientContributions());
  }
}

} // namespace tenon
